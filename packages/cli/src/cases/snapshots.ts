import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readTextFile } from '@sluice/config'
import type { TrialResponse } from '@sluice/gateway/trial'
import { isMap, parseDocument, stringify } from 'yaml'
import { EXIT, Failure } from '../output/failure.js'
import { fieldsOf, jsonOf, type Mismatch, mismatches, shown } from './matching.js'

const FOLDER = '__snapshots__'
const MAX_BYTES = 16 * 1024 * 1024
/** Header fields that differ each time or depend on the connection. */
const UNSTABLE = /^(connection|content-length|date|keep-alive|transfer-encoding|x-request-id)$/

/**
 * Response snapshots of a case file, in a file beside it:
 *
 *     tests/orders.test.yaml  ─►  tests/__snapshots__/orders.test.yaml.snap
 */
export class Snapshots {
  readonly #file: string
  readonly #known: Readonly<Record<string, unknown>>
  readonly #used: Record<string, unknown> = {}
  readonly #isUpdate: boolean
  /** Number of snapshots that were added or changed. */
  written = 0

  /** @throws Failure if the snapshot file cannot be read */
  constructor(caseFile: string, isUpdate: boolean) {
    this.#file = join(dirname(caseFile), FOLDER, `${basename(caseFile)}.snap`)
    this.#isUpdate = isUpdate
    this.#known = existsSync(this.#file) ? readSnapshots(this.#file) : {}
  }

  /** Compares a response with its snapshot. A new one is added, except in CI. */
  check(name: string, response: TrialResponse): readonly Mismatch[] {
    const value = snapshotOf(response)
    const before = Object.hasOwn(this.#known, name) ? this.#known[name] : undefined
    const found = before === undefined ? [] : differences(before, value)
    const isNew = before === undefined
    if (isNew && !this.#isUpdate && (process.env['CI'] ?? '') !== '')
      return [{ path: 'snapshot', expected: 'a snapshot; write it with --update', actual: 'none' }]
    if (!isNew && found.length > 0 && !this.#isUpdate) return found
    this.#used[name] = found.length === 0 && !isNew ? before : value
    if (isNew || found.length > 0) this.written++
    return []
  }

  /** Writes added and changed snapshots. @param isWhole true if all cases have run, so that others are obsolete */
  save(isWhole: boolean): void {
    const keeps = !(this.#isUpdate && isWhole)
    const next = keeps ? { ...this.#known, ...this.#used } : this.#used
    const isSame = this.written === 0 && Object.keys(next).length === Object.keys(this.#known).length
    if (isSame) return
    mkdirSync(dirname(this.#file), { recursive: true })
    const sorted = Object.fromEntries(Object.entries(next).sort(([a], [b]) => (a < b ? -1 : 1)))
    writeFileSync(
      this.#file,
      `# Written by gw test --update.\n${stringify(sorted, { aliasDuplicateObjects: false })}`,
    )
  }
}

function readSnapshots(file: string): Readonly<Record<string, unknown>> {
  const document = parseDocument(readTextFile(file, MAX_BYTES))
  if (document.errors.length > 0 || !isMap(document.contents))
    throw new Failure(`${file} is not a snapshot file; delete it and run gw test --update`, EXIT.invalid)
  return document.toJS({ maxAliasCount: 0 }) as Record<string, unknown>
}

/** Returns the parts of a response that are the same each time. */
function snapshotOf({ status, headers, body }: TrialResponse): unknown {
  const fields = fieldsOf(headers)
  const id = fields['x-request-id'] ?? ''
  const stable = (text: string): string => (id === '' ? text : text.replaceAll(id, '<request id>'))
  const kept = Object.entries(fields).filter(([name]) => !UNSTABLE.test(name))
  const text = stable(body.toString())
  const json = /json/.test(fields['content-type'] ?? '') ? jsonOf(Buffer.from(text)) : undefined
  return {
    status,
    headers: Object.fromEntries(
      kept.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, stable(value)]),
    ),
    ...(json === undefined ? { body: text } : { json }),
  }
}

/** Compares both ways, because expectations are partial. Snapshots are compared literally. */
function differences(before: unknown, now: unknown): readonly Mismatch[] {
  if (JSON.stringify(before) === JSON.stringify(now)) return []
  const found = mismatches(before, now, 'snapshot')
  if (found.length > 0) return found
  const added = mismatches(now, before, 'snapshot')
  if (added.length === 0) return [{ path: 'snapshot', expected: shown(before), actual: shown(now) }]
  return added.map(({ path, expected, actual }) => ({ path, expected: actual, actual: expected }))
}
