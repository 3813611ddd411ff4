//! Parameter tables: the one description of what a user can set.
//!
//! Everything that can be named in a scenario (a congestion control, a queue, a routing protocol, a
//! link, the scenario itself) is described by a static table of [`Param`]s. Help, schema, validation,
//! the reference pages and the conformance tests are made from these tables and from nothing else.

/// What a parameter holds, and so how a document spells it.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A span of time, `10 ms`; nanoseconds in the model (`_ns`).
    Time,
    /// A rate, `10 Mbps`; whole bits per second in the model (`_bps`).
    Rate,
    /// A number of bytes, `64 KiB` (`_bytes`).
    Size,
    /// Bytes or packets, `64 KiB` or `20 packets` (`_bytes` or `_packets`).
    SizeOrPackets,
    /// The size of a buffer: bytes, packets, how long it takes to drain (`50 ms`, `_ns`), or a multiple of the
    /// bandwidth-delay product (`2 BDP`, in thousandths, `_products`).
    Buffer,
    /// Segments as a real number without unit, or bytes, `64 KiB` (no suffix or `_bytes`). Bounds are in
    /// segments.
    SegmentsOrSize,
    /// A whole number without unit.
    Count,
    /// A list of whole numbers without unit.
    CountList,
    /// A real number without unit.
    Real,
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// One word of a fixed list.
    Choice(&'static [Choice]),
    /// The same, or `every 10 ms`, or `min-max every 10 ms`: how often something is written down.
    Sampling(&'static [Choice]),
    /// A registered thing: a word, or a mapping `{kind: word, ...}` with that entry's parameters.
    Registered(&'static [&'static Entry]),
    /// A registered thing as a word; its parameters stand beside the word, in the same mapping.
    Family(&'static [&'static Entry]),
    /// A registered thing as a word instead of values of the other keys.
    Preset(&'static [&'static Entry]),
    /// A time, or a registered rule that makes one: `0.5 s`, or `{kind: uniform, ...}`.
    TimeOr(&'static [&'static Entry]),
    /// A rate, or a registered rule that makes one: `10 Mbps`, or `{kind: table, ...}`.
    RateOr(&'static [&'static Entry]),
    /// An amount of data, or a registered rule that makes one: `1 MB`, or `{kind: pareto, ...}`.
    SizeOr(&'static [&'static Entry]),
    /// A mapping with these keys.
    Object(&'static [Param]),
    /// A mapping with these keys for several objects at once: a value may be a list with one value an
    /// object, which is repeated where it is too short.
    ObjectEach(&'static [Param]),
    /// A list of mappings.
    ObjectList(&'static [Param]),
    /// A list of rows: each a mapping with these keys, or a list of their values in this order.
    Rows(&'static [Param]),
    /// A list of new names (hosts, routers).
    NameList,
    /// Two names of nodes declared elsewhere in the document.
    NodePair,
    /// A list of names of routers declared elsewhere in the document.
    RouterRefs,
    /// A name of a host declared elsewhere in the document.
    HostRef,
    /// A name of a flow declared elsewhere in the document.
    FlowRef,
    /// A new name, unique in its list.
    Name,
    /// Whatever may stand at the place that another value names.
    Any,
}

/// Text that only help and reference pages show. A program that has to be downloaded has neither and leaves it out.
pub const fn help(text: &'static str) -> &'static str {
    if cfg!(target_family = "wasm") { "" } else { text }
}

/// One word of a [`Kind::Choice`].
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The word.
    pub name: &'static str,
    /// What it means.
    pub summary: &'static str,
    /// Whether it only reproduces a defect of another program.
    pub defect: bool,
}

impl Choice {
    /// An ordinary choice.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary: help(summary), defect: false }
    }

    /// A choice that exists only to reproduce a defect of another program.
    pub const fn defect(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary: help(summary), defect: true }
    }
}

/// What is taken for a parameter that is not given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Default {
    /// The parameter must be given.
    Required,
    /// The parameter may be absent; the model then holds null.
    Absent,
    /// The value, spelled as in a document.
    Is(&'static str),
}

/// One parameter.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Key in the document, snake_case.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What is taken when it is not given.
    pub default: Default,
    /// Least value, spelled as in a document, inclusive.
    pub min: Option<&'static str>,
    /// Greatest value, spelled as in a document, inclusive.
    pub max: Option<&'static str>,
    /// A word that may stand in place of a value and means that there is none (`unlimited`); the
    /// model then holds null.
    pub word: Option<&'static str>,
    /// For a registered thing that a bare quantity may stand for: the kind and its parameter.
    pub value_of: Option<(&'static str, &'static str)>,
    /// Of a queue: whether it marks packets by this, where it is neither absent nor false.
    pub marks: bool,
    /// One sentence, with the source of the default where there is one.
    pub summary: &'static str,
}

/// The longest time that a document can name, a century: sums of a few of them fit into 64 bits of
/// nanoseconds.
const LONGEST: &str = "36500 d";

/// The greatest value of a parameter whose table names none.
const fn greatest(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Time | Kind::TimeOr(_) => Some(LONGEST),
        _ => None,
    }
}

impl Param {
    /// The presets that can stand for the mapping of this parameter.
    pub fn presets(&self) -> Option<&'static [&'static Entry]> {
        match self.kind {
            Kind::Preset(entries) => Some(entries),
            Kind::Object(params) => params.iter().find_map(Param::presets),
            _ => None,
        }
    }

    /// A parameter that must be given.
    pub const fn required(name: &'static str, kind: Kind, summary: &'static str) -> Self {
        Self {
            name,
            kind,
            default: Default::Required,
            min: None,
            max: greatest(kind),
            word: None,
            value_of: None,
            marks: false,
            summary,
        }
    }

    /// A parameter with a default.
    pub const fn new(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            default: Default::Is(default),
            min: None,
            max: greatest(kind),
            word: None,
            value_of: None,
            marks: false,
            summary: help(summary),
        }
    }

    /// A parameter that may be absent; `word` says so in a document (`unlimited`, `none`), and is empty
    /// where only leaving it out does.
    pub const fn optional(
        name: &'static str,
        kind: Kind,
        word: &'static str,
        summary: &'static str,
    ) -> Self {
        let word = if word.is_empty() { None } else { Some(word) };
        Self {
            name,
            kind,
            default: Default::Absent,
            min: None,
            max: greatest(kind),
            word,
            value_of: None,
            marks: false,
            summary: help(summary),
        }
    }

    /// Whether this is the parameter's name in the numeric model, where some kinds append a unit.
    pub fn is_named(&self, model: &str) -> bool {
        const UNITS: [&str; 5] = ["", "_ns", "_bps", "_bytes", "_packets"];
        model.strip_prefix(self.name).is_some_and(|unit| UNITS.contains(&unit))
    }

    /// The same parameter with a word that means that there is no value.
    pub const fn or_word(self, word: &'static str) -> Self {
        Self { word: Some(word), ..self }
    }

    /// The same registered thing, for which a bare quantity may stand, too: the value of this parameter
    /// of this kind.
    pub const fn or_value(self, kind: &'static str, param: &'static str) -> Self {
        Self { value_of: Some((kind, param)), ..self }
    }

    /// The same parameter of a queue, which marks packets by it.
    pub const fn that_marks(self) -> Self {
        Self { marks: true, ..self }
    }

    /// The same parameter with a least value.
    pub const fn at_least(self, min: &'static str) -> Self {
        Self { min: Some(min), ..self }
    }

    /// The same parameter with a greatest value.
    pub const fn at_most(self, max: &'static str) -> Self {
        Self { max: Some(max), ..self }
    }
}

/// One registered thing: a congestion control, a queue, a routing protocol.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Word in the document.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Papers and RFCs with sections.
    pub references: &'static [&'static str],
    /// Its parameters.
    pub params: &'static [Param],
    /// Whether it only reproduces a defect of another program.
    pub defect: bool,
    /// Whether the engine for browsers does without it.
    pub native: bool,
    /// Of a queue: whether it may mark packets whatever its parameters are.
    pub marks: bool,
    /// Of a queue: what of its state is recorded, by the words of the table `aqm`.
    pub state: &'static [&'static str],
    /// Its name in plots and tables, "CUBIC"; empty where the word in the document will do.
    pub label: &'static str,
    /// What its parameters must obey together, if anything.
    pub check: Option<Check>,
}

impl Entry {
    /// An entry without anything; declarations end with `..Entry::BLANK`.
    pub const BLANK: Self = Self {
        name: "",
        summary: "",
        references: &[],
        params: &[],
        defect: false,
        native: false,
        marks: false,
        state: &[],
        label: "",
        check: None,
    };

    /// Whether this build has it.
    pub const fn is_here(&self) -> bool {
        !(cfg!(target_family = "wasm") && self.native)
    }

    /// Its name in plots and tables.
    pub const fn label(&self) -> &'static str {
        if self.label.is_empty() { self.name } else { self.label }
    }
}

/// Two lists of parameters as one, for entries that share some.
pub const fn joined<const A: usize, const B: usize, const N: usize>(
    first: [Param; A],
    second: [Param; B],
) -> [Param; N] {
    assert!(A + B == N, "N is the length of both");
    let mut all = [first[0]; N];
    let mut index = 0;
    while index < N {
        all[index] = if index < A { first[index] } else { second[index - A] };
        index += 1;
    }
    all
}

/// A rule for the parameters of one entry together.
pub type Check = fn(&Chosen) -> Result<(), Clash>;

/// Parameters of one entry that do not fit together, though each is allowed by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Clash {
    /// The parameter at which to report it.
    pub param: &'static str,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
}

impl Clash {
    /// A parameter that changes nothing unless another one has this value.
    pub fn without_effect(param: &'static str, needs: &str) -> Self {
        let message = format!("`{param}` has no effect without {needs}");
        Self { param, message, hint: Some(format!("leave it out, or set {needs}")) }
    }
}

/// A value of the numeric model.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Nanoseconds, bits per second, bytes, packets or a count.
    Int(u64),
    /// A real number.
    Real(f64),
    /// A flag.
    Flag(bool),
    /// A word.
    Word(String),
    /// Whole numbers.
    List(Vec<u64>),
    /// Rows of values.
    Rows(Vec<Chosen>),
    /// A registered thing with its parameters.
    Chosen(Chosen),
    /// Explicitly absent.
    Null,
}

/// The chosen entry of a registry with the values of its parameters, in the numeric model.
///
/// Names carry the unit suffix of the model (`period_ns`, `limit_packets`). Asking for a name or a
/// type that the entry's table does not declare is a bug of the caller and panics: documents were
/// checked against the same table before.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Name of the entry.
    pub kind: String,
    /// Parameters in the order of the entry's table.
    pub values: Vec<(String, Value)>,
}

impl Chosen {
    /// The value of `name`, if the model holds it.
    pub fn find(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn value(&self, name: &str) -> &Value {
        self.find(name).unwrap_or_else(|| panic!("`{}` has no parameter `{name}`", self.kind))
    }

    /// A whole number: time in ns, rate in bit/s, size in bytes, or a count.
    pub fn int(&self, name: &str) -> u64 {
        match self.value(name) {
            Value::Int(value) => *value,
            other => panic!("`{}.{name}` is not a whole number: {other:?}", self.kind),
        }
    }

    /// A whole number, or nothing where the parameter is absent.
    pub fn optional_int(&self, name: &str) -> Option<u64> {
        match self.find(name) {
            Some(Value::Int(value)) => Some(*value),
            None | Some(Value::Null) => None,
            Some(other) => panic!("`{}.{name}` is not a whole number: {other:?}", self.kind),
        }
    }

    /// A real number.
    pub fn real(&self, name: &str) -> f64 {
        match self.value(name) {
            Value::Real(value) => *value,
            Value::Int(value) => *value as f64,
            other => panic!("`{}.{name}` is not a number: {other:?}", self.kind),
        }
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> bool {
        match self.value(name) {
            Value::Flag(value) => *value,
            other => panic!("`{}.{name}` is not a flag: {other:?}", self.kind),
        }
    }

    /// A list of whole numbers.
    pub fn list(&self, name: &str) -> &[u64] {
        match self.value(name) {
            Value::List(values) => values,
            other => panic!("`{}.{name}` is not a list: {other:?}", self.kind),
        }
    }

    /// A list of whole numbers, empty where the parameter is absent.
    pub fn optional_list(&self, name: &str) -> &[u64] {
        match self.value(name) {
            Value::Null => &[],
            _ => self.list(name),
        }
    }

    /// Rows of values.
    pub fn rows(&self, name: &str) -> &[Chosen] {
        match self.value(name) {
            Value::Rows(rows) => rows,
            other => panic!("`{}.{name}` is not a list of rows: {other:?}", self.kind),
        }
    }

    /// A registered thing.
    pub fn inner(&self, name: &str) -> &Chosen {
        match self.value(name) {
            Value::Chosen(chosen) => chosen,
            other => panic!("`{}.{name}` is not a registered thing: {other:?}", self.kind),
        }
    }

    /// A word.
    pub fn word(&self, name: &str) -> &str {
        self.optional_word(name).unwrap_or_else(|| panic!("`{}.{name}` is absent", self.kind))
    }

    /// A word, or nothing where the parameter is absent.
    pub fn optional_word(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Value::Word(value) => Some(value),
            Value::Null => None,
            other => panic!("`{}.{name}` is not a word: {other:?}", self.kind),
        }
    }
}
