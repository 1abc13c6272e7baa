import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Schema, typesOfSchemas } from '@sluice/core/testing'
import { OPENAPI_SCHEMAS } from './openapi-schemas.js'

/** Types of the dashboard, generated from the description of the admin API so that they cannot drift apart. */
const FILE = new URL('../../../ui/src/app/data/admin-api.ts', import.meta.url)
/** Schemas that the dashboard uses. Those that they refer to follow. */
const USED = [
  ...['Session', 'Metrics', 'RouteTraffic', 'Status', 'Worker', 'Deploy', 'Deploys', 'Changes', 'Change'],
  ...['Routes', 'Route', 'Policy', 'Upstreams', 'Upstream', 'Target', 'Explanation', 'ExplainedPolicy'],
  ...['Records', 'LogRecord', 'SearchedLog', 'ExplainedRecord', 'RecordedPolicy', 'Document', 'Applied'],
  ...['Diagnostic', 'StepTrace', 'TracedStep', 'StepChange'],
]

const SCHEMAS = OPENAPI_SCHEMAS as unknown as Readonly<Record<string, Schema>>

test('the dashboard has the types of the description', () => {
  const head = '// Generated from the OpenAPI description: UPDATE_GOLDEN=1 with answer-types.test.\n'
  const text = `${head}\n${typesOfSchemas(SCHEMAS, USED, 'admin API')}`
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, text)
  assert.equal(readFileSync(FILE, 'utf8'), text)
})
