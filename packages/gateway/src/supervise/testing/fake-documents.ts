import { fakeCatalog } from '../../testing/fake-policy.js'
import { checkDocuments } from '../documents/document-checks.js'

checkDocuments(fakeCatalog({}))
