/**
 * The fields of a list that every record looks at, found in one pass: a look-up for each would cost as many passes.
 * One is used for all records in turn.
 */
export class SentFields {
  contentType = ''
  contentEncoding = ''
  userAgent = ''
  traceparent = ''
  /** Of all field lines, with their ends. */
  bytes = 0

  /** The first value of each; names are distinguished by their length before they are compared. */
  read(list: readonly string[]): void {
    this.contentType = ''
    this.contentEncoding = ''
    this.userAgent = ''
    this.traceparent = ''
    let bytes = 0
    for (let i = 0; i < list.length; i += 2) {
      const name = list[i]!
      const value = list[i + 1]!
      bytes += name.length + value.length + 4
      switch (name.length) {
        case 10:
          if (this.userAgent === '' && name === 'user-agent') this.userAgent = value
          break
        case 11:
          if (this.traceparent === '' && name === 'traceparent') this.traceparent = value
          break
        case 12:
          if (this.contentType === '' && name === 'content-type') this.contentType = value
          break
        case 16:
          if (this.contentEncoding === '' && name === 'content-encoding') this.contentEncoding = value
      }
    }
    this.bytes = bytes
  }
}
