//! One way to declare a kind of thing that a scenario can name: a table of entries, and an enum in place
//! of a virtual call.
//!
//! Copies of a world stay plain values, and the compiler sees through the calls. A new kind of thing is a
//! trait and one [`registry!`](crate::registry!); a new entry of a kind is one file and one line in it.

/// Declares the entries of a kind and the enum of all of them, with its constructor and the methods of the
/// kind's trait.
///
/// Each line names a variant, its module, and what holds it: the type itself, or a box of it where it is much
/// larger than the others. The module has a static `ENTRY`, and a type that is called as the variant, with
/// `new(&Chosen)` and the trait. Arguments of `new` beside the choice stand in brackets after the trait. Entries
/// without a type, such as `none`, are listed after `beside`; [`Chosen`](crate::param::Chosen) must not be one of
/// them when `new` is called. Below the enum stand the methods of the trait.
///
/// An entry that few need is left out of the engine for browsers, which has to be small, by `native: true` and
/// `#[cfg(not(target_family = "wasm"))]` before its line.
///
/// Where all entries make the same type there is no enum, but a function: `pub fn policy -> Policy, a "receiver"
/// { immediate, delayed }` calls `new(&Chosen)` of the module.
///
/// ```
/// use ackclock_units::param::{Chosen, Entry};
/// use ackclock_units::registry;
///
/// mod square {
///     use super::{Chosen, Entry, Shape};
///     pub static ENTRY: Entry = Entry {
///         name: "square",
///         summary: "Four equal sides.",
///         ..Entry::BLANK
///     };
///     #[derive(Debug, Clone)]
///     pub struct Square;
///     impl Square {
///         pub fn new(_chosen: &Chosen) -> Self {
///             Self
///         }
///     }
///     impl Shape for Square {
///         fn corners(&self) -> u32 {
///             4
///         }
///     }
/// }
///
/// /// A shape.
/// pub trait Shape {
///     /// How many corners it has.
///     fn corners(&self) -> u32;
/// }
///
/// registry! {
///     /// Any shape.
///     pub enum AnyShape: Shape, a "shape" {
///         Square: square as square::Square,
///     }
///     fn corners(&self) -> u32;
/// }
///
/// fn main() {
///     let chosen = Chosen { kind: "square".into(), values: Vec::new() };
///     assert_eq!(AnyShape::new(&chosen).corners(), 4);
///     assert_eq!(ENTRIES[0].name, "square");
/// }
/// ```
#[macro_export]
macro_rules! registry {
    (
        $(#[$meta:meta])*
        $vis:vis enum $any:ident: $trait:path $([$($arg:ident: $type:ty),*])?, a $what:literal
        $(beside $($other:ident),*)? { $($variants:tt)* }
        $($methods:tt)*
    ) => {
        $crate::registry! {
            @declare { $(#[$meta])* $vis enum $any } $trait, $what, [$($($other)*)?]
            chosen [chosen: &$crate::param::Chosen $($(, $arg: $type)*)?] (chosen $($(, $arg)*)?)
            $any { $($variants)* } $($methods)*
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis fn $new:ident -> $type:ty, a $what:literal { $($module:ident),* $(,)? }
    ) => {
        #[doc = concat!("What a scenario can name as a ", $what, ".")]
        pub static ENTRIES: &[&$crate::param::Entry] = &[$(&$module::ENTRY),*];

        $(#[$meta])*
        $vis fn $new(chosen: &$crate::param::Chosen) -> $type {
            $(
                if chosen.kind == $module::ENTRY.name {
                    return $module::new(chosen);
                }
            )*
            panic!("`{}` is not the name of a {}", chosen.kind, $what)
        }
    };
    (
        @declare { $(#[$meta:meta])* $vis:vis enum $_any:ident } $trait:path, $what:literal,
        [$($other:ident)*] $chosen:ident [$($head:tt)*] $call:tt
        $any:ident { $($(#[$only:meta])* $variant:ident: $module:ident as $holder:ty),* $(,)? }
        $($methods:tt)*
    ) => {
        #[doc = concat!("What a scenario can name as a ", $what, ".")]
        pub static ENTRIES: &[&$crate::param::Entry] = &[$(&$other,)* $(&$module::ENTRY),*];

        $(#[$meta])*
        #[derive(Debug, Clone)]
        $vis enum $any {
            $(
                $(#[$only])*
                #[allow(missing_docs, reason = "documented by the entry")]
                $variant($holder),
            )*
        }

        impl $any {
            /// The one that a scenario chose.
            $vis fn new($($head)*) -> Self {
                $(
                    $(#[$only])*
                    if $chosen.kind == $module::ENTRY.name {
                        return Self::$variant(<$holder>::from($module::$variant::new $call));
                    }
                )*
                panic!("`{}` is not the name of a {}", $chosen.kind, $what)
            }
        }

        $crate::delegate! { impl $trait as $any { $($(#[$only])* $variant),* } $($methods)* }
    };
}

/// Implements a trait for an enum whose variants all implement it, or hold something that does.
#[macro_export]
macro_rules! delegate {
    (
        impl $trait:path as $any:ident $variants:tt
        $(fn $name:ident $args:tt $(-> $answer:ty)?;)*
    ) => {
        impl $trait for $any {
            $($crate::delegate! { @method $variants $name $args $(-> $answer)? })*
        }
    };
    (@method $variants:tt $name:ident (&mut $this:ident $(, $arg:ident: $type:ty)* $(,)?) $(-> $answer:ty)?) => {
        $crate::delegate! {
            @call $variants $name $this [&mut $this $(, $arg: $type)*] ($($arg),*) $(-> $answer)?
        }
    };
    (@method $variants:tt $name:ident (& $this:ident $(, $arg:ident: $type:ty)* $(,)?) $(-> $answer:ty)?) => {
        $crate::delegate! {
            @call $variants $name $this [&$this $(, $arg: $type)*] ($($arg),*) $(-> $answer)?
        }
    };
    (
        @call { $($(#[$only:meta])* $variant:ident),* } $name:ident $this:ident [$($head:tt)*] $call:tt $(-> $answer:ty)?
    ) => {
        #[inline(always)]
        fn $name($($head)*) $(-> $answer)? {
            match $this { $($(#[$only])* Self::$variant(one) => one.$name $call),* }
        }
    };
}
