/** Where something stands in a document: keys and list positions from the root. */
export type DocumentPath = readonly (string | number)[]

/** A path as people read it, `routes[0].match.path`; keys that are not plain words are quoted. */
export function formatPath(path: DocumentPath): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (!/^[A-Za-z_][\w-]*$/.test(part)) text += `[${JSON.stringify(part)}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}

/** The path of a JSON Pointer (RFC 6901) into `root`, which distinguishes list positions from keys. */
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

/** The value at a path, or undefined. */
export function valueAt(root: unknown, path: DocumentPath): unknown {
  let value = root
  for (const part of path) value = childOf(value, part)
  return value
}

/** The list at a path; empty where there is none. */
export function listAt(root: unknown, path: DocumentPath): readonly unknown[] {
  const list = valueAt(root, path)
  return Array.isArray(list) ? list : []
}

/** Whether a value is a mapping. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function childOf(value: unknown, part: string | number): unknown {
  if (Array.isArray(value)) return typeof part === 'number' ? value[part] : undefined
  return isMapping(value) && Object.hasOwn(value, part) ? value[part] : undefined
}
