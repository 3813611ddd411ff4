//! A connection of any family of senders: the table of families, and an enum in place of a virtual call.

use crate::cc::{Extras, Window};
use crate::ends::{Ack, AckFields, Answers, Ends, Numbering, Reply, Word};
use crate::handshake::Message;
use crate::journal::Journal;
use crate::sack::Note;
use crate::segment::{Flags, Segment};
use crate::senders::{Common, classic, modern, selective};
use crate::stats::SenderStats;
use ackclock_units::{Time, registry};

/// Declares the families.
macro_rules! families {
    ($($variant:ident: $module:ident as $holder:ty),* $(,)?) => {
        registry! {
            /// The two ends of a flow of any registered family.
            #[allow(clippy::large_enum_variant, reason = "connections live in one array")]
            pub enum Connection: Ends [common: Common], a "sender" {
                $($variant: $module as $holder),*
            }
            fn on_data(&mut self, now: Time, seq: u32, payload: u16, stamp: Time, flags: Flags) -> Option<Ack>;
            fn on_ack(&mut self, now: Time, ack: AckFields, ece: bool) -> Option<Time>;
            fn on_message(&mut self, now: Time, message: Message, stamp: Time) -> Option<Reply>;
            fn on_answer(&mut self, now: Time, stamp: Time) -> Option<Time>;
            fn start(&mut self, now: Time);
            fn write(&mut self, now: Time, bytes: u64, last: bool);
            fn prefetch_receiver(&self);
            fn prefetch_sender(&self);
            fn next_timer(&self) -> Time;
            fn on_timer(&mut self, now: Time) -> Option<Ack>;
            fn answers(&self) -> Answers;
            fn receiver_timer(&self) -> Time;
            fn on_receiver_timer(&mut self, now: Time) -> Option<Ack>;
            fn poll_transmit(&mut self, now: Time) -> Option<Segment>;
            fn window(&self) -> &Window;
            fn reported_cwnd(&self) -> f64;
            fn on_ack_dropped(&mut self, ack: AckFields);
            fn duplicate_ack(&mut self, ack: AckFields) -> AckFields;
            fn finish(&mut self, now: Time);
            fn in_recovery(&self) -> bool;
            fn is_finished(&self) -> bool;
            fn has_unsent(&self) -> bool;
            fn is_delivered(&self) -> bool;
            fn bytes_delivered(&self) -> u64;
            fn segment_bytes(&self) -> u16;
            fn stats(&self) -> &SenderStats;
            fn stats_mut(&mut self) -> &mut SenderStats;
            fn duplicates(&self) -> u64;
            fn spurious(&self) -> u64;
            fn reordered(&self) -> u64;
            fn ecn_reductions(&self) -> u64;
            fn packets(&self) -> Option<u64>;
            fn rto(&self) -> Option<(Time, Time)>;
            fn watch(&mut self);
            fn journal(&mut self) -> Option<&mut Journal>;
            fn info(&self) -> Option<modern::Info>;
            fn note(&self, ack: AckFields) -> Option<&Note>;
            fn can_part(&self, finite: bool) -> bool;
            fn word(&self) -> Word;
            fn on_word(&mut self, word: Word);
            fn take_note(&mut self, ack: AckFields) -> Option<Note>;
            fn keep_note(&mut self, note: Note) -> u32;
        }

        impl Connection {
            /// Shares the rules of another connection where they are the same; saves memory, changes nothing
            /// else.
            pub fn share_rules(&mut self, other: &Self) {
                match (self, other) {
                    $((Self::$variant(ends), Self::$variant(other)) => ends.share_rules(other),)*
                    _ => {}
                }
            }

            /// Takes the receiver of another copy of the connection, which was in use there ([`Ends::can_part`]).
            pub fn join(&mut self, other: Self) {
                match (self, other) {
                    $((Self::$variant(ends), Self::$variant(other)) => ends.join(*Box::from(other)),)*
                    _ => unreachable!("copies of a connection are of one family"),
                }
            }
        }

        /// What sequence numbers of a family count.
        pub fn numbering(family: &str) -> Numbering {
            $(
                if family == $module::ENTRY.name {
                    return $module::NUMBERING;
                }
            )*
            panic!("`{family}` is not the name of a sender")
        }

        /// Whether senders of a family write down what sets their window, and report their state.
        pub fn keeps_journal(family: &str) -> bool {
            match family {
                $(name if name == $module::ENTRY.name => $module::KEEPS_JOURNAL,)*
                _ => panic!("`{family}` is not the name of a sender"),
            }
        }

        /// What senders of a family give congestion controls beyond what all give.
        pub fn gives(family: &str) -> Extras {
            $(
                if family == $module::ENTRY.name {
                    return $module::GIVES;
                }
            )*
            panic!("`{family}` is not the name of a sender")
        }
    };
}

families! {
    Modern: modern as Box<modern::Modern>,
    Classic: classic as classic::Classic,
    SelectiveRepeat: selective as Box<selective::SelectiveRepeat>,
}

// No tag comes before the ends.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Connection>() == size_of::<classic::Classic>());
