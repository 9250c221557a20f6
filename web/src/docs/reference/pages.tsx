/** The pages of the reference: all requests, those of one resource with its fields, and the other schemas. */
import { DocLink } from '../doc-link.tsx'
import { DocPage } from '../doc-page.tsx'
import { Cell, Row, Table } from '../table.tsx'
import { NoSuchPage } from '../text-page.tsx'
import { FieldTable } from './fields.tsx'
import { fieldsOf, operationsOf, otherSchemas, schemasOfBodies, titleOf } from './openapi.ts'
import { type Reader, useReader } from './reader.ts'
import { ReaderBar } from './reader-bar.tsx'
import { Method, Request } from './request.tsx'
import { Schemas, Sent, Type } from './type.tsx'

/** `resource`: none for the list of all requests */
export function Reference({ resource }: { resource: string | undefined }) {
  const reader = useReader()
  if (!resource) return <AllRequests reader={reader} />
  return resource === 'schemas' ? (
    <OtherSchemas reader={reader} />
  ) : (
    <Resource reader={reader} tag={resource} />
  )
}

function AllRequests({ reader }: { reader: Reader }) {
  const { document } = reader
  return (
    <Page title="Reference" reader={reader}>
      {document.tags.map(({ name }) => (
        <section key={name}>
          <h2 id={name} className="mt-8 mb-1 text-xl">
            <DocLink href={`/docs/reference/${name}`} className="hover:underline">
              {titleOf(name)}
            </DocLink>
          </h2>
          <Table>
            {operationsOf(document, name).map(({ operationId, method, path, summary }) => (
              <Row key={operationId} id={operationId === name ? undefined : operationId}>
                <Cell>
                  <Method method={method} />
                  <DocLink
                    href={`/docs/reference/${name}#${operationId}`}
                    className="text-accent hover:underline"
                  >
                    <code className="break-all">{path}</code>
                  </DocLink>
                </Cell>
                <Cell>{summary}</Cell>
              </Row>
            ))}
          </Table>
        </section>
      ))}
      <p className="mt-8">
        <DocLink href="/docs/reference/schemas">Other schemas</DocLink> are the parts of requests and answers
        that are no records.
      </p>
    </Page>
  )
}

function Resource({ reader, tag }: { reader: Reader; tag: string }) {
  const fields = fieldsOf(reader.document, tag)
  const operations = operationsOf(reader.document, tag)
  if (!fields && operations.length === 0) return <NoSuchPage />
  return (
    <Page title={titleOf(tag)} reader={reader}>
      {fields && <FieldTable fields={fields} />}
      <h2 className="mt-8 mb-2 text-xl">Requests</h2>
      {operations.length === 0 && <p>Your scopes allow none.</p>}
      {operations.map(operation => (
        <Request key={operation.operationId} operation={operation} reader={reader} />
      ))}
    </Page>
  )
}

function OtherSchemas({ reader }: { reader: Reader }) {
  const { schemas } = reader.document.components
  const sent = schemasOfBodies(reader.document)
  return (
    <Page title="Other schemas" reader={reader}>
      {otherSchemas(reader.document).map(name => (
        <section key={name} id={name} className="my-4 border-t border-line pt-3">
          <h2>
            <code>{name}</code>
          </h2>
          <div className="text-base">
            <Sent value={sent.has(name)}>
              <Type schema={schemas[name]!} isOpen />
            </Sent>
          </div>
        </section>
      ))}
    </Page>
  )
}

function Page({ title, reader, children }: { title: string; reader: Reader; children: React.ReactNode }) {
  return (
    <DocPage title={title}>
      <h1 className="mb-4 text-2xl leading-8 font-semibold">{title}</h1>
      <ReaderBar reader={reader} />
      <Schemas value={reader.document.components.schemas}>{children}</Schemas>
    </DocPage>
  )
}
