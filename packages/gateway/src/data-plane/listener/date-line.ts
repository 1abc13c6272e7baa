let second = 0
let line = ''

/** The Date field of a response (RFC 9110 section 6.6.1) behind the line before it, made once a second. */
export function dateLine(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    line = '\r\ndate: ' + new Date(now * 1000).toUTCString()
  }
  return line
}
