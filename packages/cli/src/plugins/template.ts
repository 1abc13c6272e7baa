/** What the files of a new plugin are made of. */
export interface TemplateFacts {
  readonly name: string
  /** The range of the contract. */
  readonly contract: string
  readonly dependencies: Readonly<Record<string, string>>
}

/** The files of a new plugin, by path. */
export function templateFiles(facts: TemplateFacts): Readonly<Record<string, string>> {
  const policy = facts.name
    .split('/')
    .at(-1)!
    .replace(/^sluice-plugin-/, '')
  return {
    'package.json': manifest(facts),
    'tsconfig.json': TSCONFIG,
    '.gitignore': 'node_modules\ndist\n',
    'README.md': readme(facts.name, policy),
    'example.yaml': EXAMPLE.replaceAll('@@', policy),
    'src/index.ts': MODULE.replaceAll('@@', policy),
    'src/index.test.ts': TEST,
  }
}

function manifest({ name, contract, dependencies }: TemplateFacts): string {
  const facts = {
    name,
    version: '0.1.0',
    description: 'A plugin of Sluice.',
    type: 'module',
    exports: './dist/index.js',
    files: ['dist', '!dist/*.test.js', 'example.yaml', 'README.md'],
    sluice: { contract, budgetMicros: 20 },
    scripts: { build: 'tsc', prepack: 'tsc', test: 'tsc && node --test dist/ && gw plugin test' },
    devDependencies: dependencies,
  }
  return `${JSON.stringify(facts, null, 2)}\n`
}

const EXAMPLE = `# What gw plugin test tries.
- use: @@
  with: { field: x-tenant, value: acme }
- use: @@
  with: { field: x-tenant, value: acme, required: authorization }
`

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      strict: true,
      skipLibCheck: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src'],
  },
  null,
  2,
)}\n`

const MODULE = `import type * as Sluice from '@sluice/core'

/** The gateway hands its own \`@sluice/core\` in, so that this package needs it for types only. */
export default function plugin({ definePolicy, headerValue, setHeader, Type }: typeof Sluice) {
  return definePolicy({
    name: '@@',
    summary: 'Sets a field of requests, and refuses those that lack another.',
    schema: Type.Object(
      {
        field: Type.String({ pattern: '^[a-z][a-z0-9-]*$', description: 'The field to set, in lower case.' }),
        value: Type.String({ maxLength: 1000, description: 'Its value.' }),
        required: Type.Optional(Type.String({ description: 'A field that requests must have, in lower case.' })),
      },
      { additionalProperties: false, description: 'The parameters.' },
    ),
    compile({ field, value, required }, env) {
      const refused = env.refusal('GW_POLICY_REFUSED', \`send the field \${required}\`)
      return {
        name: '@@',
        onRequest(x) {
          if (required !== undefined && headerValue(x.headers, required) === null) return refused
          setHeader(x.headers, field, value)
          return null
        },
      }
    },
  })
}
`

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sluice from '@sluice/core'
import { exchange, testEnv } from '@sluice/policies/testing'
import plugin from './index.js'

const policy = plugin(sluice)

test('the field is set, and requests without the other one are refused', async () => {
  const step = await policy.compile({ field: 'x-tenant', value: 'acme', required: 'authorization' }, testEnv())
  const x = exchange({ headers: ['authorization', 'Bearer abc'] })
  assert.equal(step?.onRequest?.(x), null)
  assert.equal(sluice.headerValue(x.headers, 'x-tenant'), 'acme')
  const refused = await step?.onRequest?.(exchange())
  assert.equal(refused?.problem?.code, 'GW_POLICY_REFUSED')
})
`

function readme(name: string, policy: string): string {
  return `# ${name}

A plugin of Sluice that brings the policy \`${policy}\`.

\`\`\`yaml
plugins: [${name}]
routes:
  - id: all
    match: { path: /* }
    upstream: up
    policies: [{ use: ${policy}, with: { field: x-tenant, value: acme } }]
\`\`\`

* \`npm test\` builds it, runs its own tests and holds it against the contract (\`gw plugin test\`), with the uses in \`example.yaml\`.
* \`sluice.budgetMicros\` in \`package.json\` is what a request may cost more in a gateway, in microseconds of CPU time.
* \`npm pack\` makes what operators install in the folder of their document: \`npm install --prefix . ${name}-0.1.0.tgz\`.
`
}
