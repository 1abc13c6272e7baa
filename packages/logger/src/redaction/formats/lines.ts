const LINE_END = /[\r\n&]/g
/** Indentation before the first name of a line. List markers count as part of the name. */
const INDENT = /^[ \t]*/
const NEXT_LINE = /(?:\r\n|\n|\r)([ \t]*)([^\r\n]*)/y

/**
 * Returns the end of an unquoted value that starts at `start`. The value extends to the end of the line and
 * over all following lines with more indentation than the line of its name at `nameAt`. YAML block scalars,
 * folded values and lists are written this way. In other formats, this may include too much.
 */
export function endOfLines(text: string, nameAt: number, start: number): number {
  LINE_END.lastIndex = start
  const match = LINE_END.exec(text)
  if (match === null) return text.length
  if (match[0] === '&') return match.index
  const own = text.slice(lineStart(text, nameAt), nameAt)
  const indent = INDENT.exec(own)![0].length
  const isOnItsOwn = match.index === start || lineStart(text, nameAt) !== lineStart(text, start)
  const isMarked = /^[ \t]*[-?][ \t]/.test(own)
  let end = match.index
  NEXT_LINE.lastIndex = end
  for (let line = NEXT_LINE.exec(text); line !== null; line = NEXT_LINE.exec(text)) {
    const [, space, content] = line
    if (content !== '') {
      const isDeeper = space!.length > indent + (isMarked ? 2 : 0)
      const isItem = isOnItsOwn && !isMarked && space!.length === indent && /^-(?:\s|$)/.test(content!)
      if (!isDeeper && !isItem) return end
      end = NEXT_LINE.lastIndex
    }
    if (NEXT_LINE.lastIndex >= text.length) return end
  }
  return end
}

function lineStart(text: string, at: number): number {
  let start = at
  while (start > 0 && text[start - 1] !== '\n' && text[start - 1] !== '\r') start--
  return start
}
