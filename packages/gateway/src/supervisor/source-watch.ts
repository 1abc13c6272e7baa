import { createHash } from 'node:crypto'
import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { DocumentSource } from '@sluice/config'
import { readDocumentFile } from '@sluice/config/serving'

/** What to watch and whom to notify. */
export interface SourceWatchOptions {
  readonly path: string
  readonly onChange: (source: DocumentSource) => void
  /** Time after an event before the file is read, and the time it has to stay as it is: it may be half written. */
  readonly debounceMs?: number
  /** The content is compared this often even without an event: some file systems report none. */
  readonly pollMs?: number
}

const DEBOUNCE_MS = 100
const POLL_MS = 5000

/**
 * Reports when the content of a document has changed. The directory is watched, not the file: editors replace files,
 * and Kubernetes swaps a `..data` symlink beside them. What counts is the content, so that an event alone (a touched
 * file, a swap to the same text) is no change, and other files of the directory may change as often as they like.
 */
export class SourceWatch {
  readonly #options: SourceWatchOptions
  readonly #poll: NodeJS.Timeout
  #known: string | null = null
  /** The file as it was looked at last: its times, size and number. */
  #looked = ''
  /** The text that was found last, and not reported yet. */
  #found: string | null = null
  #watcher: FSWatcher | null = null
  #debounce: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(options: SourceWatchOptions) {
    this.#options = options
    this.#poll = setInterval(() => {
      if (this.#watcher === null) this.#watch()
      this.#looked = ''
      this.#look()
    }, options.pollMs ?? POLL_MS)
    this.#watch()
  }

  /** This text has been dealt with, whatever came of it. */
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
      // The directory itself was removed or replaced: the poll watches the new one.
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
      this.#look()
    }, this.#options.debounceMs ?? DEBOUNCE_MS)
  }

  /** A file that is missing or half swapped is looked at again with the next event or poll. */
  #look(): void {
    const state = stateOf(this.#options.path)
    if (state === this.#looked && this.#found === null) return
    this.#looked = state
    const source = documentAt(this.#options.path)
    const found = source === null ? null : fingerprint(source.text)
    if (source === null || found === null || found === this.#known) {
      this.#found = null
      return
    }
    // Reported once it has stayed the same from one look to the next.
    if (found !== this.#found) {
      this.#found = found
      this.#arm()
      return
    }
    this.#found = null
    this.#known = found
    // The change may have come with a new directory, of which the old watch knows nothing.
    this.#unwatch()
    this.#watch()
    this.#options.onChange(source)
  }
}

/** Cheap to ask, however often other files of the directory change; the poll does without. */
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

/** Distinguishes two texts without keeping either. */
function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
