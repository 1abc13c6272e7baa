import { posix } from 'node:path'

/**
 * The path that Tomcat serves for a request target, in its most lenient configuration (encodedSolidusHandling and
 * encodedReverseSolidusHandling `decode`, ALLOW_BACKSLASH): path parameters are cut, escapes are decoded, backslashes
 * become slashes, slashes are merged and dot segments resolved, in this order. Null where it answers 400.
 */
export function readAsTomcat(target: string): string | null {
  const decoded = decode(pathOf(target).replace(/;[^/]*/g, ''))
  return decoded === null ? null : resolve(decoded)
}

/** The same for servlet code and proxy chains that decode before they cut the parameters. */
export function readDecodedFirst(target: string): string | null {
  const decoded = decode(pathOf(target))
  return decoded === null ? null : resolve(decoded.replace(/;[^/]*/g, ''))
}

/** What Node.js programs take for the path: the bytes, what the URL class makes of them, what a file server does. */
export function readAsNode(target: string): readonly string[] {
  const path = pathOf(target)
  const decoded = decode(path)
  const readings = [path, new URL(`http://a${path}`).pathname]
  return decoded === null ? readings : [...readings, posix.normalize(decoded)]
}

function pathOf(target: string): string {
  return target.split('?')[0]!
}

/** As bytes, so that what is not UTF-8 is compared as well. Null for "%00" and escapes that are none. */
function decode(path: string): string | null {
  if (/%(?![0-9a-f]{2})|%00/i.test(path)) return null
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function resolve(path: string): string {
  return posix.normalize(path.replaceAll('\\', '/').replace(/\/{2,}/g, '/'))
}
