import type { Catalog } from '@sluice/core'
import { readYaml } from '@sluice/core/yaml'
import { compareDiagnostics, type Diagnostic } from '../diagnostic/diagnostic.js'
import { type DocumentPath, formatPath, isMapping } from '../diagnostic/document-path.js'
import type { Issue } from '../diagnostic/issue.js'
import { normalizeDocument } from '../read/normalized.js'

/** `base.yaml` or a fragment, and the errors that were found in it. */
export class SourceDocument {
  readonly file: string
  /** `base`, or the name of a team. */
  readonly owner: string
  /** Content as written. */
  readonly value: Readonly<Record<string, unknown>>
  /** Content with current keys. */
  readonly current: Readonly<Record<string, unknown>>
  readonly text: string
  readonly #yaml: ReturnType<typeof readYaml>
  readonly #normalized: ReturnType<typeof normalizeDocument>
  readonly #errors: Diagnostic[] = []

  constructor(source: Pick<SourceDocument, 'file' | 'owner' | 'text'>, catalog: Catalog) {
    const { file, owner, text } = source
    this.file = file
    this.owner = owner
    this.text = text
    this.#yaml = readYaml(text)
    this.#normalized = normalizeDocument(this.#yaml.value, catalog)
    for (const { offset, ...issue } of this.#yaml.issues)
      this.#add(issue, [], this.#yaml.positionOfOffset(offset))
    const { value } = this.#yaml
    const isUsable =
      isMapping(value) && isListOf(value['routes'] ?? []) && isMapping(value['upstreams'] ?? {})
    if (!isUsable && this.#errors.length === 0)
      this.#add({
        message: `${file} must be an object, with routes as a list of objects and upstreams by name`,
        remedy: 'see docs/guides/teams.md',
      })
    this.value = isUsable ? value : {}
    this.current = isUsable ? (this.#normalized.value as Record<string, unknown>) : {}
  }

  get routes(): readonly Readonly<Record<string, unknown>>[] {
    return (this.current['routes'] ?? []) as Record<string, unknown>[]
  }

  get upstreams(): readonly string[] {
    return Object.keys(this.current['upstreams'] ?? {})
  }

  /** Errors by line. */
  get errors(): readonly Diagnostic[] {
    return this.#errors.sort(compareDiagnostics)
  }

  /** Adds an error at a path in the content with current keys. */
  report(path: DocumentPath, message: string, remedy: string): void {
    this.#add({ message, remedy }, path)
  }

  /** Adds an error at the first occurrence of a text. */
  reportText(text: string, issue: Issue): void {
    this.#add(issue, [], this.#yaml.positionOfOffset(Math.max(0, this.text.indexOf(text))))
  }

  /** Returns the line of a path in the content with current keys. */
  lineOf(path: DocumentPath): number {
    return this.#yaml.positionOf(this.#normalized.writtenPath(path), 'key').line
  }

  /** Returns a diagnostic about this file. @param path in the content as written */
  located(diagnostic: Diagnostic, path: DocumentPath): Diagnostic {
    const { line, column } = this.#yaml.positionOf(path, 'value')
    return { ...diagnostic, file: this.file, line, column, path: formatPath(path) }
  }

  #add(
    { message, remedy }: Issue,
    path: DocumentPath = [],
    at?: { readonly line: number; readonly column: number },
  ) {
    const written = this.#normalized.writtenPath(path)
    const { line, column } = at ?? this.#yaml.positionOf(written, 'value')
    const place = { severity: 'error', file: this.file, line, column, path: formatPath(written) } as const
    this.#errors.push({ ...place, message, remedy })
  }
}

function isListOf(list: unknown): boolean {
  return Array.isArray(list) && list.every(isMapping)
}
