import { createHash } from 'node:crypto'
import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { DocumentSource } from '@sluice/config'
import { readDocumentFile } from '@sluice/config/serving'

interface SourceWatchOptions {
  readonly path: string
  readonly onChange: (source: DocumentSource) => void
  /**
   * Delay in milliseconds between an event and reading the file. The content must then stay the same for as
   * long, because it may be half written.
   */
  readonly debounceMs?: number
  /** Interval in milliseconds for comparing the content without an event: some file systems report none. */
  readonly pollMs?: number
}

const DEBOUNCE_MS = 100
const POLL_MS = 5000

/**
 * Reports changes of a document's content. It watches the directory, not the file: editors replace files, and
 * Kubernetes swaps a `..data` symlink beside them. Only content counts, so touching the file or changing its
 * neighbours is not a change.
 */
export class SourceWatch {
  readonly #options: SourceWatchOptions
  readonly #poll: NodeJS.Timeout
  #known: string | null = null
  /** Times, size and inode of the file when last examined. */
  #fileState = ''
  /** Fingerprint found last and not reported yet. */
  #found: string | null = null
  #watcher: FSWatcher | null = null
  #debounce: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(options: SourceWatchOptions) {
    this.#options = options
    this.#poll = setInterval(() => {
      if (this.#watcher === null) this.#watch()
      this.#fileState = ''
      this.#check()
    }, options.pollMs ?? POLL_MS)
    this.#watch()
  }

  /** Marks a text as handled, whatever the result. */
  acknowledge(text: string): void {
    this.#known = fingerprint(text)
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#poll)
    if (this.#debounce !== null) clearTimeout(this.#debounce)
    this.#watcher?.close()
  }

  #watch(): void {
    try {
      const watcher = watch(dirname(this.#options.path), () => this.#arm())
      // The directory was removed or replaced: the poll will watch the new one.
      watcher.on('error', () => this.#unwatch())
      this.#watcher = watcher
    } catch {
      this.#watcher = null
    }
  }

  #unwatch(): void {
    this.#watcher?.close()
    this.#watcher = null
  }

  #arm(): void {
    if (this.#isClosed || this.#debounce !== null) return
    this.#debounce = setTimeout(() => {
      this.#debounce = null
      this.#check()
    }, this.#options.debounceMs ?? DEBOUNCE_MS)
  }

  /** Examines the file. If it is missing or half swapped, the next event or poll tries again. */
  #check(): void {
    const state = stateOf(this.#options.path)
    if (state === this.#fileState && this.#found === null) return
    this.#fileState = state
    const source = documentAt(this.#options.path)
    const found = source === null ? null : fingerprint(source.text)
    if (source === null || found === null || found === this.#known) {
      this.#found = null
      return
    }
    // Report only after the content was the same twice in a row.
    if (found !== this.#found) {
      this.#found = found
      this.#arm()
      return
    }
    this.#found = null
    this.#known = found
    // The change may have created a new directory that the old watcher does not cover.
    this.#unwatch()
    this.#watch()
    this.#options.onChange(source)
  }
}

/**
 * Returns the file's metadata. This is cheap even if other files in the directory change often. The poll
 * skips this check.
 */
function stateOf(path: string): string {
  const { mtimeMs, ctimeMs, size, ino } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return `${mtimeMs} ${ctimeMs} ${size} ${ino}`
}

function documentAt(path: string): DocumentSource | null {
  try {
    return readDocumentFile(path)
  } catch {
    return null
  }
}

/** Hashes a text, so that two texts can be compared without keeping either. */
function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
