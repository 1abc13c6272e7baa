const LAST_CODE_POINT = 0x10ffff

/**
 * Bytes that are not valid UTF-8, read as the most careless server would: too long forms mean the character that they
 * spell (`C0 AF` is a slash), and bytes that belong to no form are characters of their own.
 */
export function lenientUtf8(bytes: Uint8Array): string {
  const text: string[] = []
  for (let i = 0; i < bytes.length; ) {
    const length = lengthOfForm(bytes, i)
    const code = length === 1 ? bytes[i]! : codeOf(bytes, i, length)
    text.push(code <= LAST_CODE_POINT ? String.fromCodePoint(code) : '\ufffd')
    i += length
  }
  return text.join('')
}

/** How many bytes the form has that begins here; 1 when it is none. */
function lengthOfForm(bytes: Uint8Array, at: number): number {
  const ones = Math.clz32(~bytes[at]! << 24)
  if (ones < 2 || ones > 6) return 1
  for (let i = 1; i < ones; i++) {
    if (at + i >= bytes.length || bytes[at + i]! >> 6 !== 0b10) return 1
  }
  return ones
}

function codeOf(bytes: Uint8Array, at: number, length: number): number {
  let code = bytes[at]! & (0x7f >> length)
  for (let i = 1; i < length; i++) code = code * 64 + (bytes[at + i]! & 0x3f)
  return code
}
