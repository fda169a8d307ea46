//! Suggestions ("did you mean"): finds the known word most similar to a misspelt one.
//!
//! The distance of two words is the number of single-character insertions, deletions, replacements and swaps of neighbours, ignoring case.
//! It may be up to a third of the word's length. Words of one or two characters only match in another case, because every short word is
//! similar to them.

/// Returns the candidate most similar to `word`, or `None` if no candidate is similar enough. Of equally similar candidates, returns the
/// first.
///
/// ```
/// use dispatch_schema::suggest;
///
/// let types = ["Tensor", "Scalar", "int"];
/// assert_eq!(suggest("Tensro", types), Some("Tensor"));
/// assert_eq!(suggest("tensor", types), Some("Tensor"));
/// assert_eq!(suggest("Matrix", types), None);
/// ```
#[must_use]
pub fn suggest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word = lower_case_chars(word);
    let allowed = word.len() / 3;
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let known = lower_case_chars(candidate);
            // This also keeps the cost of very long words linear.
            if known.len().abs_diff(word.len()) > allowed {
                return None;
            }
            let distance = edit_distance(&word, &known);
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

fn lower_case_chars(word: &str) -> Vec<char> {
    word.chars().flat_map(char::to_lowercase).collect()
}

/// Computes the optimal string alignment distance, with three rows of the table in memory.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_of_neighbours_has_distance_one() {
        assert_eq!(suggest("itn", ["int", "str"]), Some("int"));
    }

    #[test]
    fn the_most_similar_candidate_is_suggested_and_the_first_of_equals() {
        assert_eq!(suggest("SymIn", ["SymBool", "SymInt"]), Some("SymInt"));
        assert_eq!(suggest("abd", ["abc", "abe"]), Some("abc"));
    }

    #[test]
    fn short_words_match_only_in_another_case() {
        assert_eq!(suggest("t", ["s", "T"]), Some("T"));
        assert_eq!(suggest("t1", ["int", "t2"]), None);
    }

    #[test]
    fn the_distance_is_symmetric() {
        let words = ["", "Tensor", "tesnor", "Tensors", "Scalar", "é"].map(lower_case_chars);
        for a in &words {
            for b in &words {
                assert_eq!(edit_distance(a, b), edit_distance(b, a));
            }
        }
    }
}
