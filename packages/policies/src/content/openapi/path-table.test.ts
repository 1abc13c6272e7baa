import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forwardablePath } from '@sluice/core'
import { PathTable } from './path-table.js'

function found(path: string, templates: readonly string[], basePath = ''): unknown {
  const table = new PathTable<string>()
  for (const template of templates) table.add(template, template)
  const match = table.find(forwardablePath(path)!, basePath)
  return match === null ? null : [match.value, Object.fromEntries(match.texts)]
}

test('a request matches a template however its reserved characters are escaped', () => {
  for (const [template, written, expected] of [
    ["/Customers('{id}')", "/Customers('ALFKI')", { id: 'ALFKI' }],
    ["/Customers('{id}')", '/Customers(%27ALFKI%27)', { id: 'ALFKI' }],
    ["/Customers('{id}')", '/Customers%28%27ALFKI%27%29', { id: 'ALFKI' }],
    ['/Customers(%27{id}%27)', "/Customers('ALFKI')", { id: 'ALFKI' }],
    ['/jobs/{name}:cancel', '/jobs/x%3acancel', { name: 'x' }],
    ['/odata/$batch', '/odata/%24batch', {}],
    ['/odata/%24batch', '/odata/$batch', {}],
    ['/{a}.{b}', '/x.y', { a: 'x', b: 'y' }],
    ['/é{a}', '/%C3%A9x', { a: 'x' }],
  ] as const)
    assert.deepEqual(found(written, [template]), [template, expected], written)
})

test('parameters keep their escapes, so that delimiters in them stay data', () => {
  assert.deepEqual(found('/ids/a%2Cb,c', ['/ids/{list}']), ['/ids/{list}', { list: 'a%2Cb,c' }])
  assert.deepEqual(found('/a%2Cb:cancel', ['/{id}:cancel']), ['/{id}:cancel', { id: 'a%2Cb' }])
})

test('a literal has priority over a template even if it is escaped', () => {
  assert.deepEqual(found('/odata/%24batch', ['/odata/{id}', '/odata/$batch']), ['/odata/$batch', {}])
})

test('a base path of any length is removed', () => {
  assert.deepEqual(found('/api%40v1/x', ['/x'], '/api@v1'), ['/x', {}])
})
