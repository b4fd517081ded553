//! Phrases that carry an argument: "replace A with B", "called NAME", "containing TEXT", "lines 3 to 9".
//!
//! Each function finds one sort of phrase in a [`Reading`] and says which pieces it used.

use super::meaning::{Subject, number_word, subject};
use super::reading::{After, Item, Kind, Quotes, Reading, one_of};
use std::ops::Range;

pub(super) const INSIDE: &str = "in inside within under across throughout through dans sous im unter en dentro nel nella \
        em no na в во on";
pub(super) const FROM: &str = "from of at aus von vom du de del di из des";
pub(super) const TOWARDS: &str = "to into as onto nach als vers à a in в dans en unter zu no em";
const NAMED: &str = "named called name namens genannt nommé nommée appelé appelée llamado llamada chiamato \
        chamado именем названием titled";
const FOR: &str = "for nach по pour por";
const CONNECTIVES: &str = "with to by into durch mit zu auf par por con в на -> => → 为 成";

/// A text and the pieces that it came from.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) items: Range<usize>,
}

pub(super) fn found(reading: &Reading<'_>, from: usize, to: usize) -> Option<Found> {
    let text = reading.slice(from, to)?.to_owned();
    (!text.is_empty()).then_some(Found { text, items: from..to })
}

/// The index of the first word of this subject.
pub(super) fn word_of(reading: &Reading<'_>, wanted: Subject) -> Option<usize> {
    reading.items.iter().position(|item| item.is_word() && subject(&item.folded) == Some(wanted))
}

/// Old and new text of a replacement.
pub(super) fn replacement(reading: &Reading<'_>) -> Option<(Found, Option<Found>)> {
    let verb = word_of(reading, Subject::Edit).or_else(|| reading.find(0, "turn set use"));
    let start = verb.map_or(0, |verb| verb + 1);
    let place = place_of_edit(reading);
    // "use B instead of A", "substitute B for A"
    let instead = reading.find(0, "instead").or_else(|| {
        let swap = reading.get(verb?)?.folded.starts_with("substitut");
        if swap { reading.find(start, "for") } else { None }
    });
    if let Some(instead) = instead {
        let old_from = instead + 1 + usize::from(reading.get(instead + 1).is_some_and(|item| item.is_any_of("of")));
        let new = segment(reading, start, instead, &place)?;
        let old = segment(reading, old_from, reading.items.len(), &place)?;
        return Some((old, Some(new)));
    }
    // "A should be replaced by B"
    if let Some(verb) = verb
        && reading.get(verb + 1).is_some_and(|item| item.is_any_of("by with to into durch"))
    {
        let aux = "should must be is needs to has shall can please soll";
        let mut end = verb;
        while end > 0 && reading.get(end - 1).is_some_and(|item| item.is_any_of(aux)) {
            end -= 1;
        }
        if let (Some(old), Some(new)) =
            (segment(reading, 0, end, &place), segment(reading, verb + 2, reading.items.len(), &place))
        {
            return Some((old, Some(new)));
        }
    }
    let connective = (start..reading.items.len()).find(|index| {
        let is_connective = reading.get(*index).is_some_and(|item| item.is_any_of(CONNECTIVES) || item.text == "->");
        is_connective && !place.contains(index) && *index > start
    });
    if let Some(connective) = connective
        && verb.is_some()
    {
        let old = segment(reading, start, connective, &place);
        let new = segment(reading, connective + 1, reading.items.len(), &place);
        let pronoun = |found: &Found| one_of("it that this them these those es das", &found.text);
        if let (Some(old), Some(new)) = (old.filter(|old| !pronoun(old)), new) {
            return Some((old, Some(new)));
        }
    }
    let quoted: Vec<usize> = (0..reading.items.len())
        .filter(|index| reading.get(*index).is_some_and(Item::is_quoted) && !place.contains(index))
        .collect();
    if let [first, second, ..] = quoted.as_slice() {
        return Some((found(reading, *first, first + 1)?, found(reading, *second, second + 1)));
    }
    let removes = verb.and_then(|verb| reading.get(verb)).is_some_and(|verb| {
        ["remov", "delet", "drop", "entfern", "lösch", "supprim", "elimin", "удал"]
            .iter()
            .any(|stem| verb.folded.starts_with(stem))
    });
    if removes {
        let old = segment(reading, start, reading.items.len(), &place)?;
        return Some((old, None));
    }
    None
}

/// The pieces that say in which file: a preposition with a path, or a path alone.
fn place_of_edit(reading: &Reading<'_>) -> Range<usize> {
    let paths = || (0..reading.items.len()).filter(|index| reading.get(*index).is_some_and(Item::is_path));
    let prepositions = [INSIDE, FROM].join(" ");
    let led = paths().find(|index| reading.before(*index).is_some_and(|before| before.is_any_of(&prepositions)));
    let Some(path) = led.or_else(|| paths().next()) else { return 0..0 };
    let mut start = path;
    while start > 0 && led.is_some() {
        start -= 1;
        if reading.get(start).is_some_and(|item| item.is_any_of(&prepositions)) {
            break;
        }
    }
    start..path + 1
}

/// What stands between two pieces, without the place of the edit and without words that only lead in.
fn segment(reading: &Reading<'_>, from: usize, to: usize, place: &Range<usize>) -> Option<Found> {
    let (mut from, mut to) = (from, to.min(reading.items.len()));
    if place.start >= from && place.start < to {
        // The place stands before or after the text.
        if place.start > from {
            to = place.start;
        } else {
            from = place.end;
        }
    }
    let leads = "the word words text string line value every all any each occurrence occurrences of from \
        phrase variable function method class it das wort den die der le mot la palabra texto \
        слово port_ instances references";
    // One quoted piece is the text, whatever stands around it.
    if let Some(quoted) = (from..to).find(|index| reading.get(*index).is_some_and(Item::is_quoted)) {
        return found(reading, quoted, quoted + 1);
    }
    while from + 1 < to && reading.get(from).is_some_and(|item| item.is_any_of(leads)) {
        from += 1;
    }
    // A sentence ends the text.
    let end = (from..to)
        .find(|index| reading.get(*index).is_some_and(|item| item.after == After::End))
        .map_or(to, |end| end + 1);
    if from >= end { None } else { found(reading, from, end) }
}

/// A name after "called", "as" and the like.
pub(super) fn naming(reading: &Reading<'_>, direction: bool) -> Option<Found> {
    let mut markers: Vec<usize> = (0..reading.items.len())
        .filter(|index| reading.get(*index).is_some_and(|item| item.is_any_of(NAMED)))
        .collect();
    markers.extend((1..reading.items.len()).filter(|index| {
        let calls = reading.get(index - 1).is_some_and(|item| item.is_any_of("call name nenne nenn"));
        calls && reading.get(*index).is_some_and(|item| item.is_any_of("it this them es"))
    }));
    if direction {
        // `an archive "photos"`
        markers.extend((0..reading.items.len()).filter(|index| {
            let packs =
                reading.get(*index).is_some_and(|item| item.is_word() && subject(&item.folded) == Some(Subject::Pack));
            let named = reading.get(index + 1).is_some_and(|next| next.kind == Kind::Word && next.is_quoted());
            packs && named && *index > 0
        }));
        let towards = "as into to als nach en como comme output 为 à";
        markers.extend(
            (0..reading.items.len()).filter(|index| reading.get(*index).is_some_and(|item| item.is_any_of(towards))),
        );
    }
    markers.into_iter().find_map(|marker| {
        let mut at = marker + 1;
        let skips = |item: &Item<'_>| {
            item.is_any_of(super::reading::ARTICLES)
                || item.is_any_of(NAMED)
                || item.is_any_of("it output be should new under with of")
                || (item.is_word() && subject(&item.folded) == Some(Subject::Pack))
        };
        while reading.get(at).is_some_and(skips) && at + 1 < reading.items.len() {
            at += 1;
        }
        let item = reading.get(at)?;
        let folder = |index: usize| {
            reading.get(index).is_some_and(|item| item.is_word() && subject(&item.folded) == Some(Subject::Folder))
        };
        let usable = !folder(at) && !folder(at + 1) && (item.is_quoted() || !item.is_any_of("and please for me und"));
        usable.then(|| found(reading, at, at + 1)).flatten()
    })
}

/// What is searched for.
pub(super) fn sought(reading: &Reading<'_>, used: &[bool], own_name: &str) -> Option<Found> {
    let free = |index: &usize| !used.get(*index).copied().unwrap_or(true);
    let all = || (0..reading.items.len()).filter(free);
    let placed = |index: usize| {
        reading.get(index).is_some_and(|item| item.is_path() || item.kind == Kind::Extension || item.kind == Kind::Word)
            && reading.before(index).is_some_and(|before| before.is_any_of(INSIDE))
    };
    let quoted = all().find(|index| reading.get(*index).is_some_and(Item::is_quoted) && !placed(*index));
    if let Some(quoted) = quoted {
        return found(reading, quoted, quoted + 1);
    }
    let named = all()
        .find(|index| reading.get(*index).is_some_and(|item| item.kind == Kind::Identifier && item.text != own_name));
    if let Some(named) = named {
        return found(reading, named, named + 1);
    }
    clause_sought(reading, used)
}

fn clause_sought(reading: &Reading<'_>, used: &[bool]) -> Option<Found> {
    let nouns = "occurrences occurrence usages usage uses references instances definition definitions \
        declaration vorkommen calls mentions";
    let verbs = "contain contains containing mention mentions mentioning use uses using call calls import \
        imports where wo où dónde где reference define defines";
    let after_noun =
        reading.find(0, nouns).filter(|at| reading.get(at + 1).is_some_and(|item| item.is_any_of("of to von de for")));
    let start = after_noun
        .map(|at| at + 2)
        .or_else(|| reading.find(0, FOR).map(|at| at + 1))
        .or_else(|| reading.find(1, verbs).map(|at| at + 1))
        .or_else(|| word_of(reading, Subject::Search).map(|at| at + 1))?;
    let ends = |index: usize| {
        used.get(index).copied().unwrap_or(true)
            || reading.get(index).is_some_and(|item| {
                item.is_any_of(INSIDE)
                    || item.is_any_of("from and anywhere please und with aus using")
                    || item.kind == Kind::Extension
            })
    };
    let leads = "all any every the a an occurrences of usages uses references to instances word words \
        string text term phrase function method class variable struct symbol pattern regex \
        expression lines code files that which containing contain mention mentioning calls \
        definition definitions me is are for up out where das wort dem der die den le mot la \
        palabra слово alle tous les todas todos las los allen ist literal keyword we do does \
        import";
    let mut from = start;
    while reading.get(from).is_some_and(|item| item.is_any_of(leads)) && !ends(from) {
        from += 1;
    }
    let mut to = from;
    while to < reading.items.len() && !ends(to) {
        to += 1;
        if reading.get(to - 1).is_some_and(|item| item.after != After::Nothing) {
            break;
        }
    }
    let tails = "comments comment function class method variable struct is defined used declared are \
        definiert definida called implemented located set handled mentioned verwendet keyword \
        entries markers";
    while to > from + 1 && reading.get(to - 1).is_some_and(|item| item.is_any_of(tails)) {
        to -= 1;
    }
    if from < to { found(reading, from, to) } else { None }
}

/// Text to be stored or sent.
pub(super) fn content(reading: &Reading<'_>, used: &[bool]) -> Option<Found> {
    let free = |index: &usize| !used.get(*index).copied().unwrap_or(true);
    let all = || (0..reading.items.len()).filter(free);
    let set_off = |item: &Item<'_>| item.is_quoted() || item.kind == Kind::Json;
    let mut best: Option<usize> = None;
    for index in all().filter(|index| reading.get(*index).is_some_and(set_off)) {
        let longer = |best: usize| match (reading.get(index), reading.get(best)) {
            (Some(this), Some(best)) => this.quotes == Quotes::Code && best.quotes != Quotes::Code,
            _ => false,
        };
        if best.is_none_or(longer) {
            best = Some(index);
        }
    }
    if let Some(best) = best {
        return found(reading, best, best + 1);
    }
    let markers = "containing contains saying says reading content contents text body inhalt contenu texte \
        contenido texto текстом содержимым contenuto testo conteúdo 内容为 line message words \
        payload data";
    let marker = all().find(|index| {
        let Some(item) = reading.get(*index) else { return false };
        let led = reading
            .before(*index)
            .is_some_and(|before| before.is_any_of("with whose mit avec con с com that and its als"));
        let plain = item.is_any_of("containing saying 内容为");
        item.is_any_of(markers) && (plain || led || item.after == After::Colon) && index + 1 < reading.items.len()
    });
    let colon = || {
        let opens = |item: &Item<'_>| item.after == After::Colon && !item.is_quoted();
        let at = reading.items.iter().position(opens)?;
        (at + 1 < reading.items.len()).then_some(at)
    };
    if let Some(at) = marker.or_else(colon) {
        let mut from = at + 1;
        while from + 1 < reading.items.len()
            && reading.get(at).is_some_and(|item| item.after != After::Colon)
            && reading.get(from).is_some_and(|item| item.is_any_of("is of the text words word line message den"))
        {
            from += 1;
        }
        let to = place_after(reading, from, used).unwrap_or(reading.items.len());
        return rest(reading, from, to);
    }
    // "write TEXT to PATH"
    let verb = word_of(reading, Subject::Write).or_else(|| reading.find(0, "add log post send"))?;
    let to = place_after(reading, verb + 1, used)?;
    let mut from = verb + 1;
    let leads = "the a text word words line following down message phrase string den das le la el";
    while from < to && reading.get(from).is_some_and(|item| item.is_any_of(leads)) {
        from += 1;
    }
    let generic = "file it this that something new empty up datei fichier archivo файл document";
    let says = (from..to).any(|index| reading.get(index).is_some_and(|item| !item.is_any_of(generic) && free(&index)));
    if says { rest(reading, from, to) } else { None }
}

/// Everything from one piece up to another as written, with the punctuation inside and, at the end of the message, the
/// punctuation after it.
fn rest(reading: &Reading<'_>, from: usize, to: usize) -> Option<Found> {
    if from >= to {
        return None;
    }
    let found = found(reading, from, to)?;
    let first = reading.get(from)?;
    if to < reading.items.len() || to == from + 1 && first.is_quoted() {
        return Some(found);
    }
    let text = reading.text.get(first.start..)?.trim().to_owned();
    Some(Found { text, items: from..to })
}

/// Where "to PATH" or "in PATH" begins, whose path is already used.
fn place_after(reading: &Reading<'_>, from: usize, used: &[bool]) -> Option<usize> {
    let path = (from..reading.items.len()).find(|index| {
        used.get(*index).copied().unwrap_or(false) && reading.get(*index).is_some_and(|item| item.kind != Kind::Json)
    })?;
    let mut at = path;
    while at > from {
        at -= 1;
        let item = reading.get(at)?;
        if item.is_any_of(TOWARDS) || item.is_any_of(INSIDE) {
            return Some(at);
        }
        if !item.is_any_of(super::reading::ARTICLES) && !item.is_any_of(NAMED) {
            break;
        }
    }
    Some(path)
}

/// Lines asked for: the first, how many, the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) first: Option<u64>,
    pub(super) count: Option<u64>,
    /// The pieces that were used end here; 0 for none.
    pub(super) used: [Option<usize>; 2],
}

/// "lines 3 to 9", "first 20 lines", "from line 40".
pub(super) fn lines(reading: &Reading<'_>) -> Lines {
    let units = "line lines row rows zeile zeilen ligne lignes línea líneas lineas строк строки строка \
        строку righe linhas 行";
    let joins = "to through till until bis à a al and - – до по";
    let value = |index: usize| number_at(reading, index);
    let word = |index: usize, words: &str| reading.get(index).is_some_and(|item| item.is_any_of(words));
    for (at, item) in reading.items.iter().enumerate() {
        let near_unit = (at.saturating_sub(2)..at + 3).any(|near| word(near, units));
        if item.kind == Kind::Range && near_unit {
            let mut ends = item.text.split(|c: char| !c.is_ascii_digit()).filter_map(|end| end.parse::<u64>().ok());
            if let (Some(from), Some(to)) = (ends.next(), ends.next())
                && from <= to
            {
                return Lines { first: Some(from), count: Some(to - from + 1), used: [Some(at), None] };
            }
        }
        let (Some(from), Some(to)) = (value(at), value(at + 2)) else { continue };
        let joined = word(at + 1, joins) || reading.get(at + 1).is_some_and(|item| matches!(item.text, "-" | "–"));
        if near_unit && joined && from <= to && !item.is_quoted() {
            return Lines { first: Some(from), count: Some(to - from + 1), used: [Some(at), Some(at + 2)] };
        }
    }
    let mut lines = Lines::default();
    for at in 0..reading.items.len() {
        let Some(number) = value(at) else { continue };
        let opens = |index: usize| {
            word(index, "from ab offset after от с desde depuis von starting beginning")
                || word(index, "at with on")
                    && index.checked_sub(1).is_some_and(|before| word(before, "starting beginning start begin starts"))
        };
        let starts = at > 0 && (opens(at - 1) || at > 1 && word(at - 1, units) && opens(at - 2));
        let counts = word(at + 1, units) || at > 0 && word(at - 1, "first top limit ersten premières primeras первые");
        let single = at > 0 && word(at - 1, units);
        if starts {
            lines.first = Some(number);
            lines.used[0] = Some(at);
        } else if counts && lines.count.is_none() {
            let last = at > 0 && word(at - 1, "last letzten dernières últimas");
            if !last {
                lines.count = Some(number);
                lines.used[1] = Some(at);
            }
        } else if single {
            lines = Lines { first: Some(number), count: Some(1), used: [Some(at), None] };
        }
    }
    lines
}

/// The whole number at a piece, in digits or as a word.
pub(super) fn number_at(reading: &Reading<'_>, index: usize) -> Option<u64> {
    let item = reading.get(index)?;
    match item.kind {
        Kind::Number => item.text.trim_start_matches('#').replace(',', "").parse().ok(),
        Kind::Word => number_word(&item.folded),
        Kind::Text
        | Kind::Identifier
        | Kind::Path
        | Kind::Domain
        | Kind::Extension
        | Kind::Url
        | Kind::Email
        | Kind::Json
        | Kind::Range
        | Kind::Pair => None,
    }
}
