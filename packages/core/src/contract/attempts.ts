const NO_FIELDS: readonly string[] = []

/** What became of a request at its upstream; written by the pipeline's way to it alone. */
export class Attempts {
  /** The name of the upstream; empty: the request has not come to one. */
  upstream = ''
  /** Origin of the last attempt's target, `http://10.0.0.5:9000`. */
  target = ''
  /** What the attempt sends: the Host field, and the path without the query. Set before the attempt hooks run. */
  sentHost = ''
  sentPath = ''
  /** Of the target's response; 0: there was none. */
  status = 0
  /** All fields of that response as the target sent them; empty: there was none. */
  fields: readonly string[] = NO_FIELDS
  /** Its end is marked: by its length, by chunks or a frame, and not by the end of the connection alone. */
  isDelimited = true
  /** Attempts made, the first included. */
  count = 0
  /** Attempts made again because a kept connection turned out to be dead. */
  retries = 0
  /** Attempts made at another target because the one before could not be reached. */
  failovers = 0
  /** The last attempt went over a connection that had served before. */
  isReused = false
}
