//! Pure scanning and cleaning: functions of their input, no I/O, no callbacks.

pub mod answer;
