/** Records that a search can find in many ways, beside those of the sample: for test/api and the law. */
import { dealBody, type Service } from './service.ts'

export async function makeFindable({ known, made }: Service): Promise<void> {
  for (const [title, more] of [
    ['Blixen', {}],
    ['Blixen rollout', {}],
    ['Rollout of Blixen', {}],
    ['Microblixens', {}],
    ['ΑΣ Ödön 100%_sure \\ done', {}],
    ['Ze\u0301le\u0300bre', {}],
  ] as const)
    await made('deal', dealBody(known, { title, ...more }))
  await made('company', { name: 'Blixen GmbH', phones: [{ phone_type: 1, phone_number: '+49 30 9876-543' }] })
  await made('product', { name: 'Gateway Z', product_code: 'BLIX-900' })
  await made('contact', {
    first_name: 'Zoë',
    last_name: 'Blixenin',
    emails: [{ email_type: 1, email_value: 'Zoe.Z@Mail.Example' }],
    phones: [
      { phone_type: 1, phone_number: '+1 (555) 1234-0' },
      { phone_type: 1, phone_number: '0800.777/12' },
    ],
  })
  for (const [name, phone_number] of [
    ['Abroad', '+49 30 7654321'],
    ['Within', '(030) 7654321'],
    ['Both', '+49 (0)30 7654321'],
    ['Other', '+43 30 7654321'],
    ['Far', '+1 307 654 3210'],
    ['Ext', '+49 40 556677 ext. 5'],
    ['Short', '+49 40 556677x5'],
    ['Line', '040 556677-5'],
    ['Pause', '040 556677,5'],
  ] as const)
    await made('company', { name, phones: [{ phone_type: 1, phone_number }] })
  for (const title of ['東京支社の更新', 'Renewal 東', '서울 지점'])
    await made('deal', dealBody(known, { title }))
}
