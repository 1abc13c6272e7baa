import { countryOf, flattenString, Memo, PlaceFile } from '@sluice/core'

/** Options for looking up the location of client addresses. */
export interface GeoOptions {
  /** Path of a database in the MaxMind DB format. */
  readonly file: string
  /** Interval for checking whether the file has changed, in milliseconds; default one minute. */
  readonly renewMs?: number
}

const RENEW_MS = 60_000
/** Jitter, so that workers do not hold two databases in memory at the same time. */
const RENEW_SPREAD = 0.2
/** Number of addresses whose location is cached. */
const CACHED_ADDRESSES = 10_000
/**
 * Text before the client address in a record. It cannot occur inside a string value, because quotes are
 * escaped there.
 */
const CLIENT = '"client":{"ip":"'

/** Adds client locations to records. */
export class Places {
  readonly #places: PlaceFile
  readonly #timer: NodeJS.Timeout
  /** Keys are copied with `flattenString`, because a slice would keep the whole batch in memory. */
  readonly #texts = new Memo(CACHED_ADDRESSES, (address) => this.#lookUp(address), flattenString)
  /** Database from which the cached texts come. */
  #database: PlaceFile['database'] = null

  /** Loads the database. If this fails, records have no locations until the file can be read. */
  constructor({ file, renewMs = RENEW_MS }: GeoOptions, report: (problem: string) => void) {
    this.#places = new PlaceFile(file, (problem) => {
      const rest =
        this.#places.database === null
          ? 'records have no client locations'
          : 'the previous database stays in use'
      report(`${problem}; ${rest}`)
    })
    this.#places.readNow()
    const everyMs = renewMs * (1 - RENEW_SPREAD * Math.random())
    this.#timer = setInterval(() => void this.#places.renew(), everyMs)
    this.#timer.unref()
  }

  /** Returns the lines with the locations of known clients added. Never throws. */
  addedTo(lines: Buffer): Buffer {
    const { database } = this.#places
    if (database === null) return lines
    if (database !== this.#database) {
      this.#database = database
      this.#texts.clear()
    }
    const text = lines.toString('latin1')
    let added = ''
    let from = 0
    for (let at = text.indexOf(CLIENT); at !== -1; at = text.indexOf(CLIENT, from)) {
      const start = at + CLIENT.length
      const end = text.indexOf('"', start) + 1
      if (end === 0) break
      added += text.slice(from, end) + this.#texts.get(text.slice(start, end - 1))
      from = end
    }
    return from === 0 ? lines : Buffer.from(added + text.slice(from), 'latin1')
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #lookUp(address: string): string {
    try {
      return placeText(this.#database!.get(address))
    } catch {
      // The database is damaged at this address, so its location is unknown.
      return ''
    }
  }
}

/** Coordinates in a database record. Some vendors use flat fields instead of a nested object. */
interface Found {
  readonly location?: { readonly latitude?: unknown; readonly longitude?: unknown } | null
  readonly latitude?: unknown
  readonly longitude?: unknown
}

/** Rounds coordinates to four decimals, about eleven metres. No database is more precise. */
const SCALE = 10_000

/** Returns `,"country":"TR","geo":{"lat":41.01,"lon":28.96}`, without the parts that are unknown. */
function placeText(found: unknown): string {
  if (typeof found !== 'object' || found === null) return ''
  const { location, ...flat } = found as Found
  const country = countryOf(found)
  const lat = degrees(location?.latitude ?? flat.latitude, 90)
  const lon = degrees(location?.longitude ?? flat.longitude, 180)
  return (
    (country === null ? '' : `,"country":"${country}"`) +
    (lat === null || lon === null ? '' : `,"geo":{"lat":${lat},"lon":${lon}}`)
  )
}

function degrees(value: unknown, most: number): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(Math.abs(number) <= most)) return null
  return Math.round(number * SCALE) / SCALE
}
