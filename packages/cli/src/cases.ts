import type { CaseFile } from '@sluice/config'

export type { CaseFile, Expected, Verdict, WrittenRequest, WrittenResponse } from '@sluice/config'

/** Declares test cases for `gw test`, as the default export of a module. Returns them unchanged; it exists for their types. */
export function defineCases(cases: CaseFile): CaseFile {
  return cases
}
