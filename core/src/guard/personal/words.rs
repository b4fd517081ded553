//! What the words around a number say about it.
//!
//! Lists of words in several languages, folded as a view is: lower case, no accents. The nearest word decides.

/// What the words near a number call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// What is looked for.
    Named,
    /// Perhaps what is looked for: `call`, `reach me`.
    Likely,
    /// Something else: an order, a version.
    Other,
    /// Nothing is said.
    Unsaid,
}

/// Words in order; one that ends in `*` stands for all that begin so.
struct Words {
    sorted: &'static [&'static str],
    /// Words of scripts without spaces, found anywhere in a run.
    inside: &'static [&'static str],
}

impl Words {
    fn has(&self, word: &str) -> bool {
        let after = self.sorted.partition_point(|entry| entry.trim_end_matches('*') <= word);
        let near = after.checked_sub(1).and_then(|index| self.sorted.get(index));
        let known = near.is_some_and(|entry| match entry.strip_suffix('*') {
            Some(stem) => word.starts_with(stem),
            None => *entry == word,
        });
        known || (!word.is_ascii() && self.inside.iter().any(|part| word.contains(part)))
    }
}

/// Cards.
#[rustfmt::skip]
const CARD: Words = Words {
    sorted: &[
        "american", "amex", "bancomat", "card", "cardno", "cardnumber", "cards", "carta", "cartao", "carte", "cb",
        "cc", "ccn", "ccnum*", "credit*", "cvc*", "cvv*", "dankort", "debit*", "diners", "discover", "elo", "jcb",
        "kaart*", "kart", "karta", "karte", "kartennummer", "karti", "kartu", "kort", "kortnummer", "kreditkart*",
        "maestro", "master", "mastercard", "mir", "pan", "rupay", "tarjeta*", "unionpay", "visa", "καρτα*", "карт*",
        "мир", "כרטיס*", "البطاقه", "بطاقتی", "بطاقه", "کارت", "कार्ड",
    ],
    inside: &["カード", "卡", "카드", "บัตร"],
};

/// What has as many digits as a card and is none.
#[rustfmt::skip]
const NO_CARD: Words = Words {
    sorted: &[
        "barcode*", "ean*", "epoch*", "gtin*", "iccid", "imei*", "imsi", "isbn*", "issn", "meid", "millis*", "ms",
        "serial*", "snowflake*", "timestamp*", "tracking", "trackingnumber", "ts", "upc", "штрихкод*",
    ],
    inside: &["追踪", "追跡", "条码", "バーコード"],
};

/// Social security numbers.
#[rustfmt::skip]
const SSN: Words = Words {
    sorted: &[
        "social", "socialsecurity*", "ss", "ssn", "ssno", "ssns", "ssnum*",
    ],
    inside: &[],
};

/// Phones, without a doubt.
#[rustfmt::skip]
const PHONE: Words = Words {
    sorted: &[
        "callto", "cel", "cell", "cellphone*", "cellular", "celular", "facsimile", "fax*", "fon", "fone", "gsm",
        "handphone", "handy*", "homephone", "hotline", "mob", "mobil*", "movil", "msisdn", "phone*", "portable",
        "puhelin*", "rufnummer", "sms", "tel", "telef*", "teleph*", "telno", "telnr", "tfn", "tlf", "viber",
        "whatsapp", "workphone", "κινητο", "моб", "мобильн*", "сот", "тел", "телефон*", "факс", "טלפון", "الجوال",
        "الهاتف", "تلفن", "تلیفون", "جوال", "موبایل", "نייד", "هاتف", "هاتفی", "फोन", "मोबाइल",
    ],
    inside: &["電話", "电话", "携帯", "手机", "手機", "ケータイ", "ファックス", "传真", "전화", "휴대폰", "핸드폰", "연락처", "โทร", "เบอร์"],
};

/// What people do with phones, and with other things.
#[rustfmt::skip]
const CALL: Words = Words {
    sorted: &[
        "anrufen", "appelez*", "call", "called", "calling", "chiama*", "contact", "dial*", "ligue", "llama*", "reach",
        "ring", "rufen", "text", "txt", "zadzwon*", "звони*", "набери", "наберите", "номер", "отправьте", "позвон*",
        "اتصل",
    ],
    inside: &["番号は私", "連絡先", "联系", "聯絡"],
};

/// Numbers that only a word before them makes somebody's: `my number`.
const NUMBER: &[&str] = &["no", "nr", "number", "numer", "numero", "nummer", "номер", "номера", "رقم", "رقمی"];
/// Whose number it is.
const OWNER: &[&str] = &[
    "contact", "her", "his", "mein", "meine", "mi", "mij", "mijn", "mio", "mon", "my", "our", "their", "your", "мои",
    "ее", "его",
];

/// Numbers of other things.
#[rustfmt::skip]
const OTHER: Words = Words {
    sorted: &[
        "account*", "acct", "amount", "article", "artikel*", "asset", "auftrag*", "barcode", "batch", "bestell*",
        "bill", "booking", "build", "case", "catalog*", "claim", "code", "commande", "commit", "confirmation",
        "coordinates", "customer", "date", "device", "doi", "ean", "epoch", "factura", "facture", "fattura", "gtin",
        "id", "imei", "invoice*", "ip", "isbn*", "issn", "item", "job", "lat", "latitude", "lng", "lon", "longitude",
        "lot", "model", "nip", "order*", "ordine", "parcel", "part", "patent", "pedido", "plz", "po", "policy",
        "port", "postal", "postcode", "product", "quote", "receipt", "rechnung*", "ref", "reference", "regon",
        "release", "rfc", "room", "seat", "serial*", "shipment", "sku", "ticket", "timestamp", "tracking*",
        "transaction", "txn", "upc", "uuid", "v", "ver", "version*", "zip", "zipcode", "артикул*", "верси*", "заказ*",
        "заявк*", "инн", "кпп", "накладн*", "огрн", "счет*", "трек*",
    ],
    inside: &["注文", "订单", "訂單", "주문", "請求書", "発票", "型番", "快递单号", "追跡", "郵便番号"],
};

/// Accounts at banks.
#[rustfmt::skip]
const ACCOUNT: Words = Words {
    sorted: &[
        "account", "bank", "bic", "iban*", "konto*", "swift", "счет*",
    ],
    inside: &["口座", "账户"],
};

/// Whether a word stands for cards. `No` is what the numero sign folds to.
pub(super) fn is_card(word: &str) -> bool {
    word == "no" || CARD.has(word)
}

/// Whether a word stands for social security numbers.
pub(super) fn is_ssn(word: &str) -> bool {
    word == "no" || SSN.has(word)
}

/// Whether a word stands for phones.
pub(super) fn is_phone(word: &str) -> bool {
    word == "no" || PHONE.has(word)
}

/// Whether an account is spoken of shortly before a place.
pub(super) fn is_account(text: &str, at: usize) -> bool {
    back(text, at).take(3).any(|word| ACCOUNT.has(word))
}

/// What the words around a possible card call it.
pub(super) fn card(text: &str, at: usize, rest: &str) -> Place {
    let before = back(text, at).take(6).find_map(|word| match word {
        _ if NO_CARD.has(word) => Some(Place::Other),
        _ if CARD.has(word) => Some(Place::Named),
        _ => None,
    });
    before.unwrap_or_else(|| match forth(rest).take(5).any(|word| CARD.has(word)) {
        true => Place::Named,
        false => Place::Unsaid,
    })
}

/// What the words before a possible social security number call it.
pub(super) fn ssn(text: &str, at: usize) -> Place {
    let mut nearest = None;
    for word in back(text, at).take(6) {
        if SSN.has(word) {
            return Place::Named;
        }
        if nearest.is_none() && (OTHER.has(word) || PHONE.has(word)) {
            nearest = Some(Place::Other);
        }
    }
    nearest.unwrap_or(Place::Unsaid)
}

/// What the words around a possible phone call it.
pub(super) fn phone(text: &str, at: usize, rest: &str) -> Place {
    let mut number = false;
    for word in back(text, at).take(6) {
        if PHONE.has(word) || (number && OWNER.contains(&word)) {
            return Place::Named;
        }
        if OTHER.has(word) {
            return Place::Other;
        }
        if NUMBER.contains(&word) {
            number = true;
        } else if CALL.has(word) {
            return Place::Likely;
        }
    }
    let after = forth(rest).take(4).any(|word| PHONE.has(word));
    if after { Place::Likely } else { Place::Unsaid }
}

/// The words before a place, nearest first, from the same few dozen bytes.
fn back(text: &str, at: usize) -> impl Iterator<Item = &str> {
    const FAR: usize = 64;
    let near = text.get(boundary(text, at.saturating_sub(FAR))..at).unwrap_or_default();
    near.rsplit(|c: char| !is_letter(c)).filter(|word| !word.is_empty())
}

/// The words at the beginning of a text.
fn forth(rest: &str) -> impl Iterator<Item = &str> {
    const FAR: usize = 40;
    let near = rest.get(..boundary(rest, FAR)).unwrap_or_default();
    near.split(|c: char| !is_letter(c)).filter(|word| !word.is_empty())
}

/// The last boundary between characters at or before a place.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or_default()
}

fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { super::super::fold::chars::is_word(c) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::fold::folded;

    const ALL: [&Words; 8] = [&CARD, &NO_CARD, &SSN, &PHONE, &CALL, &OTHER, &ACCOUNT, &ACCOUNT];

    #[test]
    fn the_words_are_folded_and_in_order_and_no_stem_hides_another_word() {
        for words in ALL {
            let stems: Vec<_> = words.sorted.iter().map(|entry| entry.trim_end_matches('*')).collect();
            for entry in stems.iter().chain(words.inside) {
                assert_eq!(folded(entry), **entry);
            }
            for (index, entry) in words.sorted.iter().enumerate() {
                if let Some(next) = stems.get(index + 1) {
                    assert!(stems[index] < *next, "{} stands before {next}", stems[index]);
                    assert!(!entry.ends_with('*') || !next.starts_with(stems[index]), "{entry} hides {next}");
                }
            }
        }
    }
}
