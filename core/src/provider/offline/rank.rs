//! Which of the offered tools a message asks for.
//!
//! Words of the instruction against words of the tools, and the things in the message against the tools' schemas.

use super::fill::{Earlier, Filled, fill};
use super::meaning::{Subject, subject, subject_of_pair, subjects_without_spaces};
use super::reading::{Item, Reading, is_spaceless};
use super::tools::ToolView;
use crate::schema::words;
use std::collections::BTreeSet;

/// Points from which a tool counts as meant.
pub(super) const ENOUGH: f64 = 1.8;
/// Points of a tool that the message calls by name.
const BY_NAME: f64 = 20.0;
/// Points of a word that no list knows but that stands in one tool's text alone.
const RARE_WORD: f64 = 2.0;
/// The first word of an instruction says most about it.
const FIRST_WORD: f64 = 1.4;

/// A tool with its arguments and points.
#[derive(Debug)]
pub(super) struct Ranked<'v> {
    pub(super) view: &'v ToolView<'v>,
    pub(super) filled: Filled,
    /// Points of the words alone.
    pub(super) words: f64,
    pub(super) points: f64,
}

/// The tools, the most fitting first; of equals the one offered first.
pub(super) fn rank<'v>(views: &'v [ToolView<'v>], reading: &Reading<'_>, earlier: &Earlier) -> Vec<Ranked<'v>> {
    let mut ranked: Vec<Ranked<'v>> = views
        .iter()
        .map(|view| {
            let filled = fill(view, reading, earlier);
            let words = word_points(view, views, reading);
            Ranked { points: words + filled.fit, view, filled, words }
        })
        .collect();
    ranked.sort_by(|a, b| b.points.total_cmp(&a.points));
    ranked
}

/// All subjects of one piece of an instruction.
pub(super) fn subjects_of(item: &Item<'_>) -> Vec<Subject> {
    match item.folded.chars().any(is_spaceless) {
        true => subjects_without_spaces(&item.folded),
        false => subject(&item.folded).into_iter().collect(),
    }
}

fn word_points(view: &ToolView<'_>, views: &[ToolView<'_>], reading: &Reading<'_>) -> f64 {
    let mut points = 0.0;
    let mut counted_subjects = BTreeSet::new();
    let mut counted_words = BTreeSet::new();
    let mut first = true;
    for (index, item) in reading.items.iter().enumerate() {
        if item.text == &*view.spec.name || words::fold(item.text) == words::fold(&view.spec.name) {
            points += BY_NAME;
            continue;
        }
        if !item.is_word() {
            continue;
        }
        let pair = reading.get(index + 1).and_then(|next| subject_of_pair(&item.folded, &next.folded));
        let subjects = pair.map_or_else(|| subjects_of(item), |subject| vec![subject]);
        let stem = words::stem(&item.folded);
        let polite =
            ["please", "can", "could", "would", "you", "hey", "hi", "hello", "bitte", "i", "me", "kannst", "du"];
        let says =
            !polite.contains(&item.folded.as_str()) && (!words::is_stop_word(&item.folded) || !subjects.is_empty());
        let weight = if first && says { FIRST_WORD } else { 1.0 };
        first &= !says;
        let mut best: f64 = 0.0;
        for subject in subjects {
            let strength = view.subjects.get(&subject).copied().unwrap_or(0.0);
            if strength > 0.0 && counted_subjects.insert(subject) {
                best += subject.weight() * strength;
            }
        }
        if !words::is_stop_word(&item.folded)
            && let Some(strength) = view.words.get(&stem)
            && counted_words.insert(stem.clone())
        {
            let carriers = views.iter().filter(|view| view.words.contains_key(&stem)).count();
            let rarity = 1.0 / (carriers.max(1) as f64).sqrt();
            best = best.max(RARE_WORD * strength * rarity);
        }
        points += weight * best;
    }
    points
}
