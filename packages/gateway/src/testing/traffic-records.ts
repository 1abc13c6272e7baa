import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CapturePlan, LogPlan } from '@sluice/config'
import {
  type PlanOverrides,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  until,
} from './gateway.js'

/** A record as written. */
export interface WrittenRecord {
  readonly [field: string]: unknown
  readonly t: Readonly<Record<string, number>>
  readonly hdr?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly body?: Readonly<Record<string, WrittenBody>>
  readonly error?: Readonly<Record<string, string>>
}

export interface WrittenBody {
  readonly bytes: number
  readonly ct?: string
  readonly text?: string
  readonly base64?: string
  readonly truncated?: boolean
}

const SILENT = { headers: false, body: false }

/** Returns a capture plan that is off except for the overrides. */
export function captureOf(overrides: Partial<CapturePlan>): CapturePlan {
  return {
    ...{ requestIn: SILENT, requestUp: SILENT, responseUp: SILENT, responseOut: SILENT },
    ...{ maxBodyBytes: 4096, sha256: false, headersAllow: null, headersDeny: [] },
    ...{ binary: 'omit', multipart: 'names', keepBodyOn: null, ...overrides },
  }
}

/** A gateway that logs traffic to files, with access to its records. */
export interface LoggedGateway extends TestGateway {
  /** Log plan to repeat in a reload, so that the log continues. */
  readonly log: LogPlan
  /** Drains the gateway and reads the records it has written. */
  records(): Promise<readonly WrittenRecord[]>
}

/** Starts a gateway with a traffic log in a temporary directory. */
export async function startLogged(
  t: TestContext,
  overrides: PlanOverrides,
  log: Partial<LogPlan> = {},
  options: TestGatewayOptions = {},
): Promise<LoggedGateway> {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-records-'))
  // The log thread may still write.
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  const plan: LogPlan = {
    sink: 'file',
    fields: 'standard',
    file: { dir, maxBytes: 16 * 1024 ** 2, segmentBytes: 1024 ** 2 },
    elasticsearch: null,
    outputs: [],
    geo: null,
    slowMs: 1000,
    privacy: null,
    unknownRoutes: true,
    capture: null,
    ...log,
  }
  const gateway = await startGateway(t, { ...overrides, log: plan }, options)
  return {
    ...gateway,
    log: plan,
    async records() {
      // A drain waits only 5 s for the log thread, which may take longer to start on a busy machine.
      await until(() => gateway.plane.logIdentity().inMemory === 0)
      await gateway.plane.drain(5000)
      const lines = readdirSync(dir)
        .sort()
        .flatMap((file) => readFileSync(join(dir, file), 'utf8').split('\n'))
      return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as WrittenRecord)
    },
  }
}
