import { type TestContext, test } from 'node:test'
import {
  type PlanOverrides,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
} from '../../../testing/gateway.js'

/** What serves a listener. */
export type Engine = 'uws' | 'node'

/** Starts a gateway whose listener has the engine under test. */
export type StartGateway = (
  t: TestContext,
  overrides: PlanOverrides,
  options?: TestGatewayOptions,
) => Promise<TestGateway>

/** Defines a test for each engine; for one of them where only that can do it, or cannot (docs/reference/limits.md). */
export function testEngines(
  name: string,
  body: (t: TestContext, start: StartGateway, engine: Engine) => Promise<void>,
  engines: readonly Engine[] = ['uws', 'node'],
): void {
  for (const engine of engines) {
    const start: StartGateway = (t, overrides, options) =>
      startGateway(t, { ...overrides, listener: { ...overrides.listener, engine } }, options)
    test(`${engine}: ${name}`, (t) => body(t, start, engine))
  }
}
