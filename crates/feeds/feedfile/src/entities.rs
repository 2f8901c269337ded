//! HTML character references.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The names that shops use. Separated by a plain space, because some of the characters are spaces,
/// too.
const NAMES: &str = "\
    Auml=Ä Eacute=É Ouml=Ö Uuml=Ü aacute=á acirc=â aelig=æ agrave=à alpha=α amp=& apos=' aring=å \
    asymp=≈ atilde=ã auml=ä bdquo=„ beta=β bull=• ccedil=ç cent=¢ copy=© darr=↓ deg=° divide=÷ \
    eacute=é ecirc=ê egrave=è emsp=\u{2003} ensp=\u{2002} euml=ë euro=€ frac12=½ frac14=¼ \
    gamma=γ ge=≥ gt=> hellip=… iacute=í icirc=î infin=∞ iuml=ï laquo=« larr=← ldquo=“ le=≤ \
    lsaquo=‹ lsquo=‘ lt=< mdash=— micro=µ middot=· minus=− nbsp=\u{A0} ndash=– ne=≠ ntilde=ñ \
    oacute=ó ocirc=ô omega=ω oslash=ø otilde=õ ouml=ö para=¶ plusmn=± pound=£ quot=\" raquo=» \
    rarr=→ rdquo=” reg=® rsaquo=› rsquo=’ sbquo=‚ sect=§ shy=\u{AD} sup2=² sup3=³ szlig=ß \
    thinsp=\u{2009} times=× trade=™ uacute=ú ucirc=û ugrave=ù uuml=ü";

static NAMED: LazyLock<BTreeMap<&str, char>> = LazyLock::new(|| {
    let pairs = NAMES.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.filter_map(|(name, character)| Some((name, character.chars().next()?))).collect()
});
/// Bytes of the longest reference.
const REFERENCE_BYTES_MAX: usize = 12;

/// The character of the reference at the start of a text, and its length in bytes: `&nbsp;`,
/// `&#8217;`, `&#x2019;`.
pub(crate) fn reference(text: &str) -> Option<(char, usize)> {
    let body = text.strip_prefix('&')?;
    let end = body.bytes().take(REFERENCE_BYTES_MAX).position(|byte| byte == b';')?;
    let body = &body[..end];
    let found = match body.strip_prefix('#') {
        Some(number) => {
            let (digits, radix) = number.strip_prefix(['x', 'X']).map_or((number, 10), |digits| (digits, 16));
            char::from_u32(u32::from_str_radix(digits, radix).ok()?).filter(|found| !found.is_control())?
        }
        None => *NAMED.get(body)?,
    };
    Some((found, end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_known_by_name_and_by_number() {
        assert_eq!(reference("&nbsp;x"), Some(('\u{A0}', 6)));
        assert_eq!(reference("&#8217;s"), Some(('’', 7)));
        assert_eq!(reference("&#x2019;s"), Some(('’', 8)));
        for wrong in ["&", "&;", "&nothing;", "& b;", "&#0;", "&#xD800;", "&#+5;;", "nbsp;", "&ещё;"] {
            assert_eq!(reference(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_name_has_a_character() {
        assert_eq!(NAMED.len(), NAMES.split(' ').count());
    }
}
