import { countryOf, flattenString, Memo, PlaceFile } from '@sluice/core'

/** Where the places of addresses are looked up. */
export interface GeoOptions {
  /** A database in the MaxMind DB format. */
  readonly file: string
  /** How often it is looked whether the file has changed, ms; default a minute. */
  readonly renewMs?: number
}

const RENEW_MS = 60_000
/** The workers look at different moments, so that they do not all hold two databases at once. */
const RENEW_SPREAD = 0.2
/** Addresses whose place is remembered. */
const REMEMBERED = 10_000
/** Where records hold the address of the client. No text inside a record can look like it: its quotes are escaped. */
const CLIENT = '"client":{"ip":"'

/** Adds to records where their clients are. */
export class Places {
  readonly #places: PlaceFile
  readonly #timer: NodeJS.Timeout
  /** An address is a part of a batch, which it would keep. */
  readonly #texts = new Memo(REMEMBERED, (address) => this.#lookUp(address), flattenString)
  /** What the texts are from. */
  #database: PlaceFile['database'] = null

  /** Reads the file; when that fails, no record names a place until it can be read. */
  constructor({ file, renewMs = RENEW_MS }: GeoOptions, report: (problem: string) => void) {
    this.#places = new PlaceFile(file, (problem) => {
      const rest =
        this.#places.database === null
          ? 'records do not say where clients are'
          : 'the one read before serves on'
      report(`${problem}; ${rest}`)
    })
    this.#places.readNow()
    const everyMs = renewMs * (1 - RENEW_SPREAD * Math.random())
    this.#timer = setInterval(() => void this.#places.renew(), everyMs)
    this.#timer.unref()
  }

  /** Whole lines with the places of their clients, for those that are known. Never throws. */
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
      // The database is damaged at this address: its place is unknown.
      return ''
    }
  }
}

/** Of what databases know of an address, what records hold; some makers write it without the inner object. */
interface Found {
  readonly location?: { readonly latitude?: unknown; readonly longitude?: unknown } | null
  readonly latitude?: unknown
  readonly longitude?: unknown
}

/** Four decimals are eleven metres; no database is that exact. */
const SCALE = 10_000

/** `,"country":"TR","geo":{"lat":41.01,"lon":28.96}`, or as much of it as is known. */
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
