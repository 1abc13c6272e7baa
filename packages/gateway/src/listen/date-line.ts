let second = 0
let line = ''

/** Returns the Date field (RFC 9110 section 6.6.1) with the preceding line break. It is rebuilt once per second. */
export function dateLine(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    line = '\r\ndate: ' + new Date(now * 1000).toUTCString()
  }
  return line
}
