//! Sizes and counts in texts.

/// How a size is written; 1 KB is 1024 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeStyle {
    /// `50.0KB`: always one decimal, no space.
    Tight,
    /// `128 KB`, `1.5 MB`: a decimal only if it is not zero.
    Spaced,
    /// `100KB`: as `Spaced`, without the space.
    Short,
}

/// Returns a size in the largest unit in which the number is at least 1.
pub fn size_text(bytes: u64, style: SizeStyle) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let space = match style {
        SizeStyle::Tight | SizeStyle::Short => "",
        SizeStyle::Spaced => " ",
    };
    if bytes < 1024 {
        return format!("{bytes}{space}B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    // 1023.95 would be shown as 1024.0.
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let number = format!("{value:.1}");
    let number = match style {
        SizeStyle::Tight => number.as_str(),
        SizeStyle::Spaced | SizeStyle::Short => number.strip_suffix(".0").unwrap_or(&number),
    };
    format!("{number}{space}{}", UNITS[unit])
}

/// Returns a count with its noun: `1 file`, `4 files`.
pub fn plural(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_in_the_largest_unit() {
        for (bytes, tight, spaced) in [
            (0, "0B", "0 B"),
            (1023, "1023B", "1023 B"),
            (1024, "1.0KB", "1 KB"),
            (50 * 1024, "50.0KB", "50 KB"),
            (128 * 1024, "128.0KB", "128 KB"),
            (128 * 1024 + 1, "128.0KB", "128 KB"),
            (1_572_864, "1.5MB", "1.5 MB"),
            (1024 * 1024 - 1, "1.0MB", "1 MB"),
            (3 * 1024 * 1024 * 1024, "3.0GB", "3 GB"),
            (u64::MAX, "16777216.0TB", "16777216 TB"),
        ] {
            assert_eq!(size_text(bytes, SizeStyle::Tight), tight);
            assert_eq!(size_text(bytes, SizeStyle::Spaced), spaced);
            assert_eq!(size_text(bytes, SizeStyle::Short), spaced.replace(' ', ""));
        }
    }
}
