//! A bitmap font of five by seven dots, for text in pictures.

/// The distance from one character to the next, in dots.
pub(crate) const CHARACTER_WIDTH: usize = 6;

/// The height of a character, in dots.
pub(crate) const CHARACTER_HEIGHT: usize = 7;

/// The characters of the font, each with its dots below it.
#[rustfmt::skip]
const GLYPHS: [(&str, [&str; CHARACTER_HEIGHT]); 3] = [
    ("0123456789.%-", [
        " ###    #    ###   ###     #  #####  ###  #####  ###   ###        ##  #      ",
        "#   #  ##   #   # #   #   ##  #     #         # #   # #   #       ##  #      ",
        "#  ##   #       #     #  # #  ####  #        #  #   # #   #          #       ",
        "# # #   #     ##    ##  #  #      # ####     #   ###   ####         #   #####",
        "##  #   #    #        # #####     # #   #   #   #   #     #        #         ",
        "#   #   #   #     #   #    #  #   # #   #   #   #   #     #  ##   #  ##      ",
        " ###   ###  #####  ###     #   ###   ###    #    ###   ###   ##   #  ##      ",
    ]),
    ("ABCDEFGHIJKLM", [
        " ###  ####   ###  ####  ##### #####  ###  #   #  ###    ### #   # #     #   #",
        "#   # #   # #   # #   # #     #     #   # #   #   #      #  #  #  #     ## ##",
        "#   # #   # #     #   # #     #     #     #   #   #      #  # #   #     # # #",
        "##### ####  #     #   # ####  ####  # ### #####   #      #  ##    #     # # #",
        "#   # #   # #     #   # #     #     #   # #   #   #      #  # #   #     #   #",
        "#   # #   # #   # #   # #     #     #   # #   #   #   #  #  #  #  #     #   #",
        "#   # ####   ###  ####  ##### #      #### #   #  ###   ##   #   # ##### #   #",
    ]),
    ("NOPQRSTUVWXYZ", [
        "#   #  ###  ####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####",
        "##  # #   # #   # #   # #   # #       #   #   # #   # #   # #   # #   #     #",
        "##  # #   # #   # #   # #   # #       #   #   # #   # #   #  # #   # #     # ",
        "# # # #   # ####  #   # ####   ###    #   #   # #   # # # #   #     #     #  ",
        "#  ## #   # #     # # # # #       #   #   #   # #   # # # #  # #    #    #   ",
        "#  ## #   # #     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #    ",
        "#   #  ###  #      ## # #   # ####    #    ###    #   #   # #   #   #   #####",
    ]),
];

/// Returns column and row of each dot of a character. Small letters look like capitals, and unknown characters have no dots.
pub(crate) fn dots_of_character(character: char) -> impl Iterator<Item = (usize, usize)> {
    let capital = character.to_ascii_uppercase();
    let found = GLYPHS.iter().find_map(|(characters, rows)| Some((characters.find(capital)?, rows)));
    found.into_iter().flat_map(|(position, rows)| {
        let columns = CHARACTER_WIDTH * position..CHARACTER_WIDTH * position + CHARACTER_WIDTH - 1;
        rows.iter().enumerate().flat_map(move |(y, row)| {
            let dots = row.as_bytes()[columns.clone()].iter().enumerate().filter(|&(_, &dot)| dot == b'#');
            dots.map(move |(x, _)| (x, y))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_different_dots() {
        for (characters, rows) in GLYPHS {
            assert!(rows.iter().all(|row| row.len() == CHARACTER_WIDTH * characters.len() - 1), "{characters}");
        }
        let characters: Vec<char> = GLYPHS.iter().flat_map(|(characters, _)| characters.chars()).collect();
        let mut shapes: Vec<Vec<_>> =
            characters.iter().map(|&character| dots_of_character(character).collect()).collect();
        assert!(shapes.iter().all(|dots| !dots.is_empty()));
        shapes.sort();
        shapes.dedup();
        assert_eq!(shapes.len(), characters.len());
        assert!(dots_of_character('-').eq((0..5).map(|x| (x, 3))));
        assert_eq!(dots_of_character('?').count(), 0);
    }
}
