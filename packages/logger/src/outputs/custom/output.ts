import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Delivery, LogOutput, ReportProblem, Shipment } from '../output.js'
import { readDelivery } from './delivery.js'

/** An output that somebody else has written. */
export interface CustomOptions {
  /** The name of a package, or the path of a module that begins with `.` or `/`. */
  readonly module: string
  /** The directory from which both are looked up. */
  readonly from: string
  /** Handed to the module as they are. */
  readonly options: Readonly<Record<string, unknown>>
}

/** What a module exports as its default. */
export type OpenCustomOutput = (
  options: Readonly<Record<string, unknown>>,
  report: ReportProblem,
) => LogOutput | Promise<LogOutput>

/** A delivery that has not ended by then counts as failed, so that the log goes on to be tried, ms. */
const DELIVERY_MS = 120_000

/**
 * An output out of a module. Whatever goes wrong in it is reported as an outage: the records wait, and neither the thread
 * nor the worker ends.
 */
export class CustomOutput implements LogOutput {
  readonly #options: CustomOptions
  readonly #report: ReportProblem
  #output: Promise<LogOutput> | null = null

  constructor(options: CustomOptions, report: ReportProblem) {
    this.#options = options
    this.#report = report
  }

  async deliver(shipment: Shipment): Promise<Delivery> {
    try {
      const output = await this.#opened()
      return readDelivery(await inTime(output.deliver(shipment)), shipment.count)
    } catch (error) {
      const reason = `the target '${this.#options.module}' fails: ${textOf(error)}`
      return { kind: 'failed', overload: false, reason }
    }
  }

  async close(): Promise<void> {
    try {
      await (await this.#output)?.close()
    } catch (error) {
      this.#report(`the target '${this.#options.module}' cannot be closed: ${textOf(error)}`)
    }
  }

  /** Until it succeeds. */
  #opened(): Promise<LogOutput> {
    this.#output ??= this.#open().catch((error: unknown) => {
      this.#output = null
      throw error
    })
    return this.#output
  }

  async #open(): Promise<LogOutput> {
    const { module, options } = this.#options
    const open = await loadCustomOutput(this.#options)
    const output = await open(options, this.#report)
    if (typeof output?.deliver !== 'function' || typeof output.close !== 'function')
      throw new Error(`'${module}' opens something without deliver and close`)
    return output
  }
}

/** Loads the module of an output, and opens nothing. @throws Error when it is not there or exports no function. */
export async function loadCustomOutput(
  options: Pick<CustomOptions, 'module' | 'from'>,
): Promise<OpenCustomOutput> {
  const exported: unknown = await import(placeOf(options))
  const open = (exported as { readonly default?: unknown }).default
  if (typeof open === 'function') return open as OpenCustomOutput
  throw new Error(`'${options.module}' has no function as its default export`)
}

/** A package may have no entry that `require` accepts; it is found from here then. */
function placeOf({ module, from }: Pick<CustomOptions, 'module' | 'from'>): string {
  if (/^\.{0,2}\//.test(module)) return pathToFileURL(resolve(from, module)).href
  try {
    return pathToFileURL(createRequire(resolve(from, 'from.js')).resolve(module)).href
  } catch {
    return module
  }
}

function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no delivery within ${DELIVERY_MS} ms`)), DELIVERY_MS)
    timer.unref()
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
