const LAST_CODE_POINT = 0x10ffff

/**
 * Decodes bytes that are not valid UTF-8 like the most careless server: overlong forms mean the character that they
 * encode (`C0 AF` is a slash), and stray bytes are single characters.
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

/** Returns the number of bytes of the form that begins here, or 1 if there is none. */
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
