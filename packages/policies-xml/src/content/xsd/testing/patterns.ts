import assert from 'node:assert/strict'
import { Validator } from '../validator.js'

/** Returns the verdict of libxml2 on a value, or null if it gives up. */
export function isAccepted(pattern: string, value: string): boolean | null {
  const accepted = acceptedBy(pattern, [value])
  assert.ok(accepted, `libxml2 does not read ${pattern}`)
  return accepted[0] ?? null
}

/** Returns the verdicts of libxml2, or null if it rejects the pattern. */
export function acceptedBy(pattern: string, values: readonly string[]): readonly (boolean | null)[] | null {
  const validator = validatorOf(pattern)
  if (validator === null) return null
  try {
    return values.map((value) => {
      const verdict = validator.validateBytes(Buffer.from(`<a>${escaped(value)}</a>`))
      if (verdict.kind === 'invalid')
        assert.match(verdict.mistakes, /not accepted by the pattern|a value is not valid/)
      return verdict.kind === 'undecided' ? null : verdict.kind === 'valid'
    })
  } finally {
    validator.close()
  }
}

function validatorOf(pattern: string): Validator | null {
  const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:simpleType>
    <xs:restriction base="xs:string"><xs:pattern value="${escaped(pattern)}"/></xs:restriction>
    </xs:simpleType></xs:element></xs:schema>`
  const documents = [{ systemId: 'a.xsd', bytes: Buffer.from(schema) }]
  try {
    return new Validator({
      schemas: { root: 'a.xsd', documents },
      isSlow: false,
      select: undefined,
      names: {},
      maxErrors: 1,
      maxDepth: 10,
    })
  } catch (problem) {
    assert.match((problem as Error).message, /is invalid at line/)
    return null
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>"\t\n\r]/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
