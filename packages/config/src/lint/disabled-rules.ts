import { type DocumentPath, isMapping, valueAt } from '../diagnostic/document-path.js'

/** Matches a comment that disables rules for the next line. */
const COMMENT = /^\s*#\s*gw-lint-disable-next-line\s+([\w-]+(?:[\s,]+[\w-]+)*)\s*$/

/** Rules that a document disables: with `x-lint` at any level, or with a comment before a line. */
export class DisabledRules {
  readonly #root: unknown
  readonly #lines: readonly string[]

  /** @param root the document as it is in the text */
  constructor(root: unknown, text: string) {
    this.#root = root
    this.#lines = text.split(/\r?\n/)
  }

  /** True if a rule is disabled at a line, or at or above one of the paths. */
  has(rule: string, line: number, paths: readonly DocumentPath[]): boolean {
    return this.#isBelowComment(rule, line) || paths.some((path) => this.#isDisabledAt(rule, path))
  }

  /** Returns the rules that `x-lint` disables somewhere, with the path of each name. */
  names(): readonly { readonly name: string; readonly path: DocumentPath }[] {
    return namesIn(this.#root, [])
  }

  #isBelowComment(rule: string, line: number): boolean {
    const names = COMMENT.exec(this.#lines[line - 2] ?? '')?.[1]
    return names?.split(/[\s,]+/).includes(rule) === true
  }

  #isDisabledAt(rule: string, path: DocumentPath): boolean {
    return [...path.keys(), path.length].some((length) =>
      disabledAt(valueAt(this.#root, path.slice(0, length))).includes(rule),
    )
  }
}

function disabledAt(part: unknown): readonly unknown[] {
  const disabled = valueAt(part, ['x-lint', 'disable'])
  return Array.isArray(disabled) ? disabled : [disabled]
}

function namesIn(
  value: unknown,
  path: DocumentPath,
): { readonly name: string; readonly path: DocumentPath }[] {
  if (Array.isArray(value)) return value.flatMap((item, i) => namesIn(item, [...path, i]))
  if (!isMapping(value)) return []
  return Object.entries(value).flatMap(([key, item]) => {
    if (key !== 'x-lint') return namesIn(item, [...path, key])
    const place = [...path, key, 'disable']
    return disabledAt({ [key]: item }).flatMap((name, i) =>
      name === undefined
        ? []
        : [{ name: String(name), path: Array.isArray(valueAt(item, ['disable'])) ? [...place, i] : place }],
    )
  })
}
