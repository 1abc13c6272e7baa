import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { ipv4Number, isIpv4Mapped, Memo, readIpv6, textOfItsOwn } from '@sluice/core'
import { type CityResponse, Reader } from 'mmdb-lib'

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
/** No database of places is larger. */
const MAX_BYTES = 1024 ** 3
/** Addresses whose place is remembered. */
const REMEMBERED = 10_000
/** Where records hold the address of the client. No text inside a record can look like it: its quotes are escaped. */
const CLIENT = '"client":{"ip":"'

/**
 * Adds to records where their clients are. The file is held in memory, and read again when it has changed: its makers
 * replace it every week. While it cannot be read, what was read before serves on.
 */
export class Places {
  readonly #file: string
  readonly #report: (problem: string) => void
  readonly #timer: NodeJS.Timeout
  /** An address is a part of a batch, which it would keep. */
  readonly #texts = new Memo(REMEMBERED, (address) => this.#lookUp(address), textOfItsOwn)
  #reader: Reader<CityResponse> | null = null
  /** Of the file that was read; empty: none was. */
  #version = ''
  /** What was reported last, which is not reported again before it is over. */
  #problem = ''
  #isRenewing = false

  /** Reads the file; when that fails, no record names a place until it can be read. */
  constructor({ file, renewMs = RENEW_MS }: GeoOptions, report: (problem: string) => void) {
    this.#file = file
    this.#report = report
    try {
      const version = versionOf(file)
      this.#take(readFileSync(file), version)
    } catch (error) {
      this.#complain(error)
    }
    const everyMs = renewMs * (1 - RENEW_SPREAD * Math.random())
    this.#timer = setInterval(() => void this.#renew(), everyMs)
    this.#timer.unref()
  }

  /** Whole lines with the places of their clients, for those that are known. Never throws. */
  addedTo(lines: Buffer): Buffer {
    if (this.#reader === null) return lines
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
    const reader = this.#reader!
    try {
      const found = numericAddress(address)
      // A database of IPv4 alone would take the first bits of another address for one of its own.
      const isMeant = found !== '' && (reader.metadata.ipVersion === 6 || !found.includes(':'))
      return isMeant ? placeText(reader.get(found)) : ''
    } catch {
      // The database is damaged at this address: its place is unknown.
      return ''
    }
  }

  /** Without holding up the records that come meanwhile. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    try {
      const version = versionOf(this.#file)
      if (version !== this.#version) this.#take(await readFile(this.#file), version)
    } catch (error) {
      this.#complain(error)
    } finally {
      this.#isRenewing = false
    }
  }

  #take(database: Buffer, version: string): void {
    this.#reader = new Reader<CityResponse>(database)
    this.#version = version
    this.#problem = ''
    this.#texts.clear()
  }

  #complain(error: unknown): void {
    const rest =
      this.#reader === null ? 'records do not say where clients are' : 'the one read before serves on'
    const problem = `the database of places cannot be read (${(error as Error).message}); ${rest}`
    if (problem !== this.#problem) this.#report(problem)
    this.#problem = problem
  }
}

/** Another text for another file. @throws Error where there is none that can be a database. */
function versionOf(file: string): string {
  const stats = statSync(file)
  if (!stats.isFile()) throw new Error('it is not a regular file')
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`
}

const words = new Uint32Array(4)

/** The address as databases have it, an IPv4 one that is mapped into IPv6 by itself; empty for what is none. */
function numericAddress(text: string): string {
  if (ipv4Number(text) !== -1) return text
  if (!readIpv6(text, words)) return ''
  const last = words[3]!
  return isIpv4Mapped(words) ? [24, 16, 8, 0].map((bits) => (last >>> bits) & 0xff).join('.') : text
}

/** Of what databases know of an address, what records hold; some makers write it without the inner objects. */
type Found = Pick<CityResponse, 'country' | 'registered_country' | 'location'> & {
  readonly country_code?: unknown
  readonly latitude?: unknown
  readonly longitude?: unknown
}

/** ISO 3166-1 alpha-2. */
const COUNTRY = /^[A-Z]{2}$/
/** Four decimals are eleven metres; no database is that exact. */
const SCALE = 10_000

/** `,"country":"TR","geo":{"lat":41.01,"lon":28.96}`, or as much of it as is known. */
export function placeText(found: CityResponse | null): string {
  if (found === null) return ''
  const { country, registered_country, location, ...flat } = found as Found
  const code = country?.iso_code ?? flat.country_code ?? registered_country?.iso_code
  const lat = degrees(location?.latitude ?? flat.latitude, 90)
  const lon = degrees(location?.longitude ?? flat.longitude, 180)
  return (
    (typeof code === 'string' && COUNTRY.test(code) ? `,"country":"${code}"` : '') +
    (lat === null || lon === null ? '' : `,"geo":{"lat":${lat},"lon":${lon}}`)
  )
}

function degrees(value: unknown, most: number): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number !== 'number' || !(Math.abs(number) <= most)) return null
  return Math.round(number * SCALE) / SCALE
}
