import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Session } from '../src/ui/ui-types.ts';
import { CoveragePage } from './coverage-page.tsx';
import { ExplorePage } from './explore-page.tsx';
import { JobsPage } from './jobs-page.tsx';
import { Failed } from './notes.tsx';
import { OverviewPage } from './overview-page.tsx';
import { QueryPage } from './query-page.tsx';
import { ReportsPage } from './reports-page.tsx';
import { usePath } from './router.ts';
import { TablesPage } from './tables-page.tsx';
import { useRequest } from './use-request.ts';

const PAGES = [
  { path: '/overview', title: 'Overview' },
  { path: '/coverage', title: 'Coverage' },
  { path: '/tables', title: 'Tables' },
  { path: '/query', title: 'Query' },
  { path: '/explore', title: 'Explore' },
  { path: '/jobs', title: 'Jobs' },
  { path: '/reports', title: 'Reports' },
] as const;

function App() {
  const path = usePath();
  const { value: session, error } = useRequest<Session>('/api/session');
  const current = PAGES.find((page) => path.startsWith(page.path)) ?? PAGES[0];
  document.title = `${current.title} · tonlake`;
  // On a phone, the navigation is a row that scrolls.
  useEffect(() => {
    document.querySelector('.pages [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  return (
    <div class="app">
      <a class="skip" href="#content" target="_self">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href="/">
          tonlake
        </a>
        {session !== undefined && (
          <p class="place" title={session.warehouse}>
            <b>{session.network}</b> <span>{session.warehouse}</span>
          </p>
        )}
      </header>
      <nav class="pages" aria-label="Pages">
        {PAGES.map((page) => (
          <a key={page.path} href={page.path} aria-current={page === current ? 'page' : undefined}>
            {page.title}
          </a>
        ))}
      </nav>
      <main id="content" tabIndex={-1}>
        {error !== undefined && <Failed error={error} />}
        {session !== undefined && <Page path={current.path} location={path} session={session} />}
      </main>
    </div>
  );
}

interface PageProps {
  readonly path: (typeof PAGES)[number]['path'];
  readonly location: string;
  readonly session: Session;
}

function Page({ path, location, session }: PageProps) {
  switch (path) {
    case '/overview':
      return <OverviewPage />;
    case '/coverage':
      return <CoveragePage />;
    case '/tables':
      return <TablesPage path={location} />;
    case '/query':
      return <QueryPage session={session} />;
    case '/explore':
      return <ExplorePage key={location} path={location} />;
    case '/jobs':
      return <JobsPage path={location} />;
    case '/reports':
      return <ReportsPage path={location} />;
  }
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
