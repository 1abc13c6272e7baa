/**
 * Header fields that every record needs, extracted in one pass instead of one lookup per field. One instance
 * is reused for all records.
 */
export class SentFields {
  contentType = ''
  contentEncoding = ''
  userAgent = ''
  traceparent = ''
  /** Size of all field lines, including their line ends. */
  bytes = 0

  /** Reads the first value of each field. Names are distinguished by length before they are compared. */
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
