import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { type Schema, typesOfSchemas } from '@sluice/core/testing'
import { DeployView, GroupView, LoginMethodsView, MemberView, SessionView } from './schemas.js'

/** Types of the controller's dashboard, generated from the schemas of the API so that they cannot drift apart. */
const FILE = new URL('../../../ui/src/app/data/control-api.ts', import.meta.url)
const SCHEMAS = {
  ...{ Session: SessionView, LoginMethods: LoginMethodsView, Group: GroupView, Member: MemberView },
  Deploy: DeployView,
}

test('the dashboard has the types of the API', () => {
  const head = '// Generated from the schemas of the API: UPDATE_GOLDEN=1 with dashboard-types.test.\n'
  const types = typesOfSchemas(
    SCHEMAS as Readonly<Record<string, Schema>>,
    Object.keys(SCHEMAS),
    'controller API',
  )
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(FILE, `${head}\n${types}`)
  assert.equal(readFileSync(FILE, 'utf8'), `${head}\n${types}`)
})
