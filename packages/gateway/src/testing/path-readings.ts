import { posix } from 'node:path'

/**
 * Returns the path that Tomcat serves for a request target in its most lenient configuration
 * (encodedSolidusHandling and encodedReverseSolidusHandling `decode`, ALLOW_BACKSLASH). In order: path
 * parameters are cut, escapes decoded, backslashes become slashes, slashes are merged, dot segments resolved.
 * Null where it answers 400.
 */
export function readAsTomcat(target: string): string | null {
  const decoded = decode(pathOf(target).replace(/;[^/]*/g, ''))
  return decoded === null ? null : resolve(decoded)
}

/** Returns the path for servlet code and proxy chains that decode before they cut the parameters. */
export function readDecodedFirst(target: string): string | null {
  const decoded = decode(pathOf(target))
  return decoded === null ? null : resolve(decoded.replace(/;[^/]*/g, ''))
}

/**
 * Returns the paths that Node.js programs may use: the raw bytes, the URL class's result, and a file
 * server's.
 */
export function readAsNode(target: string): readonly string[] {
  const path = pathOf(target)
  const decoded = decode(path)
  const readings = [path, new URL(`http://a${path}`).pathname]
  return decoded === null ? readings : [...readings, posix.normalize(decoded)]
}

function pathOf(target: string): string {
  return target.split('?')[0]!
}

/** Decodes to bytes, so that invalid UTF-8 is compared too. Returns null for "%00" and invalid escapes. */
function decode(path: string): string | null {
  if (/%(?![0-9a-f]{2})|%00/i.test(path)) return null
  return path.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function resolve(path: string): string {
  return posix.normalize(path.replaceAll('\\', '/').replace(/\/{2,}/g, '/'))
}
