/** Distance between full-width characters and the ASCII characters they resemble. */
const FULL_WIDTH = 0xfee0
/** Code points of the digit zero in other scripts: Arabic, Persian, Devanagari, Bengali, Thai. */
const ZEROS: readonly number[] = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50]
const FOREIGN = /[\uff01-\uff5e\u3002\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef\u0e50-\u0e59]/g

/** Replaces characters that resemble ASCII by ASCII, unit by unit, so that positions do not change. */
export function asciiForm(text: string): string {
  return text.replace(FOREIGN, (one) => {
    const code = one.charCodeAt(0)
    if (code === 0x3002) return '.'
    if (code >= 0xff01) return String.fromCharCode(code - FULL_WIDTH)
    const zero = ZEROS.findLast((first) => first <= code)!
    return String.fromCharCode(code - zero + 48)
  })
}
