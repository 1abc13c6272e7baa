/** A location in a document: keys and list positions from the root. */
export type DocumentPath = readonly (string | number)[]

/** Formats a path, such as `routes[0].match.path`. Keys that are not plain words are quoted. */
export function formatPath(path: DocumentPath): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (!/^[A-Za-z_][\w-]*$/.test(part)) text += `[${JSON.stringify(part)}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}

/** Returns the path of a JSON Pointer (RFC 6901). The value `root` distinguishes list positions from keys. */
export function pathOfPointer(pointer: string, root: unknown): DocumentPath {
  const path: (string | number)[] = []
  let value = root
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~')
    const part = Array.isArray(value) ? Number(key) : key
    path.push(part)
    value = childOf(value, part)
  }
  return path
}

/** Returns the value at a path, or undefined. */
export function valueAt(root: unknown, path: DocumentPath): unknown {
  let value = root
  for (const part of path) value = childOf(value, part)
  return value
}

/** Returns the list at a path, or an empty list. */
export function listAt(root: unknown, path: DocumentPath): readonly unknown[] {
  const list = valueAt(root, path)
  return Array.isArray(list) ? list : []
}

/** True if a value is an object. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function childOf(value: unknown, part: string | number): unknown {
  if (Array.isArray(value)) return typeof part === 'number' ? value[part] : undefined
  return isMapping(value) && Object.hasOwn(value, part) ? value[part] : undefined
}
