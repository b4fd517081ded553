//! A radix tree over the words of all packs: small, quickly built, walked byte by byte.

/// A tree of texts, each with a value.
#[derive(Debug, Default)]
pub(super) struct Tree<V> {
    texts: String,
    nodes: Vec<Node>,
    /// The first byte of each node, apart from the nodes so that a look at the children touches little memory.
    firsts: Vec<u8>,
    /// The child of the root for each first byte: it has a hundred, and every walk starts there. 0 for none.
    from_root: Vec<u32>,
    values: Vec<V>,
}

/// Children that are looked through one by one.
const FEW: usize = 4;

/// Bytes that lead here from the node above, and what follows.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The bytes, in `texts`.
    label: u32,
    length: u16,
    children: u16,
    first_child: u32,
    /// One more than the place of the value; 0 for none.
    value: u32,
}

/// A place in the tree: a node, and how much of its label was walked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    node: u32,
    walked: u16,
}

impl<V> Tree<V> {
    /// Builds a tree of texts in ascending order without repeats.
    pub(super) fn new(entries: Vec<(String, V)>) -> Self {
        let mut tree = Self {
            texts: String::new(),
            nodes: Vec::new(),
            firsts: Vec::new(),
            from_root: vec![0; 256],
            values: Vec::new(),
        };
        let mut starts = Vec::with_capacity(entries.len());
        let mut keys = Vec::with_capacity(entries.len());
        for (text, value) in entries {
            starts.push(tree.texts.len());
            tree.texts.push_str(&text);
            keys.push(text);
            tree.values.push(value);
        }
        tree.nodes.push(Node { label: 0, length: 0, children: 0, first_child: 0, value: 0 });
        tree.firsts.push(0);
        // Nodes whose children are still to be made: the node, its entries, and the bytes that they share.
        let mut open = vec![(0_usize, 0..keys.len(), 0_usize)];
        while let Some((node, range, depth)) = open.pop() {
            let first_child = tree.nodes.len();
            let mut at = range.start;
            let mut value = 0;
            while let Some(key) = keys.get(at).filter(|_| at < range.end) {
                let Some(byte) = key.as_bytes().get(depth).copied() else {
                    value = place(at + 1);
                    at += 1;
                    continue;
                };
                let same = |other: &String| other.as_bytes().get(depth) == Some(&byte);
                let count = keys.get(at..range.end).unwrap_or_default().iter().take_while(|other| same(other)).count();
                let last = keys.get(at + count - 1).map_or(key.as_bytes(), |last| last.as_bytes());
                // In order, what the first and the last share is shared by all between them.
                let shared = key.bytes().zip(last.iter()).skip(depth).take_while(|(a, b)| a == *b).count();
                let label = starts.get(at).copied().unwrap_or_default() + depth;
                open.push((tree.nodes.len(), at..at + count, depth + shared));
                tree.nodes.push(Node {
                    label: place(label),
                    length: short(shared),
                    children: 0,
                    first_child: 0,
                    value: 0,
                });
                tree.firsts.push(byte);
                if node == 0
                    && let Some(child) = tree.from_root.get_mut(usize::from(byte))
                {
                    *child = place(tree.nodes.len() - 1);
                }
                at += count;
            }
            let children = short(tree.nodes.len() - first_child);
            if let Some(node) = tree.nodes.get_mut(node) {
                *node = Node { children, first_child: place(first_child), value, ..*node };
            }
        }
        tree
    }

    /// Where every walk starts.
    pub(super) fn root(&self) -> Place {
        Place { node: 0, walked: 0 }
    }

    /// The place one byte further, when there is one.
    pub(super) fn step(&self, place: Place, byte: u8) -> Option<Place> {
        let node = self.nodes.get(place.node as usize)?;
        if place.walked < node.length {
            let next = self.texts.as_bytes().get(node.label as usize + usize::from(place.walked))?;
            return (*next == byte).then_some(Place { walked: place.walked + 1, ..place });
        }
        if place.node == 0 {
            let child = *self.from_root.get(usize::from(byte))?;
            return (child > 0).then_some(Place { node: child, walked: 1 });
        }
        let first = node.first_child as usize;
        let firsts = self.firsts.get(first..first + usize::from(node.children))?;
        let child = if firsts.len() > FEW {
            memchr::memchr(byte, firsts)?
        } else {
            firsts.iter().position(|other| *other == byte)?
        };
        Some(Place { node: u32::try_from(first + child).ok()?, walked: 1 })
    }

    /// The value of the text that ends here.
    pub(super) fn value(&self, place: Place) -> Option<&V> {
        let node = self.nodes.get(place.node as usize).filter(|node| place.walked == node.length)?;
        self.values.get((node.value as usize).checked_sub(1)?)
    }

    /// Bytes of memory.
    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.texts.len()
            + self.nodes.len() * (size_of::<Node>() + 1)
            + self.from_root.len() * 4
            + self.values.len() * size_of::<V>()
    }
}

/// Everything together is far below these limits: the packs are files of this crate.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn short(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn find<'a>(tree: &'a Tree<usize>, text: &str) -> Option<&'a usize> {
        let place = text.bytes().try_fold(tree.root(), |place, byte| tree.step(place, byte))?;
        tree.value(place)
    }

    proptest! {
        #[test]
        fn every_text_is_found_and_no_other(texts in prop::collection::btree_map("[ab]{1,6}|[a-zé ]{1,8}", any::<usize>(), 0..60), other in "[abé ]{0,7}") {
            let tree = Tree::new(texts.clone().into_iter().collect());
            for (text, value) in &texts {
                prop_assert_eq!(find(&tree, text), Some(value));
            }
            let texts: BTreeMap<String, usize> = texts;
            prop_assert_eq!(find(&tree, &other), texts.get(&other));
        }
    }
}
