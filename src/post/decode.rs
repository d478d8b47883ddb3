//! Bytes of a file to normalised text: BOM, CRLF, UTF-8, NUL.
