const NO_FIELDS: readonly string[] = []

/** The upstream attempts of one exchange. Only the proxying code of the pipeline writes these fields. */
export class Attempts {
  /** Name of the upstream, or empty if the request has not reached one. */
  upstream = ''
  /** Origin of the last attempt's target, such as `http://10.0.0.5:9000`. */
  target = ''
  /** Host field and path without query that the attempt sends. Set before the attempt hooks run. */
  sentHost = ''
  sentPath = ''
  /** Status of the target's response, or 0 if it did not respond. */
  status = 0
  /** Header fields of the response, complete and as the target sent them. Empty if there was no response. */
  fields: readonly string[] = NO_FIELDS
  /**
   * True if the response body has an explicit end: Content-Length, chunked coding or an HTTP/2 frame. False
   * if only closing the connection ends it.
   */
  isDelimited = true
  /** Number of attempts, including the first one. */
  count = 0
  /** Number of attempts repeated because a reused connection turned out to be closed. */
  retries = 0
  /** Number of attempts sent to another target because the previous target was unreachable. */
  failovers = 0
  /** Start of the last attempt, and end of its response, on the monotonic clock. The end is 0 without tracing. */
  sinceMono = 0
  endedMono = 0
  /** True if the last attempt used an existing connection. */
  isReused = false
}
