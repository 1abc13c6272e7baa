import { MAX_LINE_BYTES } from './line-splitter.js'
import { bytesAt } from './runs.js'

/** Number of bytes read at a time. */
const BLOCK_BYTES = 64 * 1024
const NEWLINE = 10
const NOTHING = Buffer.alloc(0)
const LINE_END = Buffer.from('\n')

/** Yields the lines of a file before `end`, last line first. The last line may lack a newline. */
export async function* linesBackward(path: string, end: number): AsyncGenerator<string, void, undefined> {
  // End of a line whose beginning is in an earlier block.
  let rest: Buffer = NOTHING
  for (let start = end; start > 0; ) {
    const length = Math.min(BLOCK_BYTES, start)
    start -= length
    const block = Buffer.concat([await bytesAt(path, start, length), rest])
    const complete = start === 0 ? 0 : block.indexOf(NEWLINE) + 1
    yield* reversedLines(block, complete)
    rest = block.subarray(0, complete)
    if (rest.length > MAX_LINE_BYTES) rest = LINE_END
  }
}

/** Returns the end of the last complete line before `end`. */
export async function lastLineEnd(path: string, end: number): Promise<number> {
  for (let start = end; start > 0 && end - start < MAX_LINE_BYTES; ) {
    const length = Math.min(BLOCK_BYTES, start)
    start -= length
    const newline = (await bytesAt(path, start, length)).lastIndexOf(NEWLINE)
    if (newline !== -1) return start + newline + 1
    if (start === 0) return 0
  }
  return end
}

function* reversedLines(block: Buffer, from: number): Generator<string, void, undefined> {
  let end = block.length
  while (end > from) {
    const isEnded = block[end - 1] === NEWLINE
    const lineEnd = isEnded ? end - 1 : end
    const start = lineEnd > from ? Math.max(from, block.lastIndexOf(NEWLINE, lineEnd - 1) + 1) : from
    yield block.toString('utf8', start, lineEnd)
    end = start
  }
}
