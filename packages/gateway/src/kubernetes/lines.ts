/**
 * Splits a stream into lines.
 * @throws Error if a line is longer than `maxBytes`, or the last line is incomplete.
 */
export async function* linesOf(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let rest: Buffer[] = []
  let bytes = 0
  for await (const piece of stream) {
    let from = 0
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      yield Buffer.concat([...rest, piece.subarray(from, end)]).toString()
      rest = []
      bytes = 0
      from = end + 1
    }
    if (from === piece.length) continue
    rest.push(piece.subarray(from))
    bytes += piece.length - from
    if (bytes > maxBytes) throw new Error(`a line is longer than ${maxBytes} bytes`)
  }
  if (bytes > 0) throw new Error('the stream ended within a line')
}
