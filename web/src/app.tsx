// The whole page: the view for the current URL, or instead of it sign-in, "not an administrator" or an error.
import { useEffect, useRef } from 'preact/hooks';
import { Header } from './components/header.tsx';
import { Toaster } from './components/toaster.tsx';
import { currentUrl, navigate, type Place, routeOf, usePlace } from './router.ts';
import { useArrowKeys } from './use-arrow-keys.ts';
import { type SessionControl, useSession } from './use-session.ts';
import { AgentView } from './views/agent.tsx';
import { AgentsView } from './views/agents.tsx';
import { AuditView } from './views/audit.tsx';
import { EventsView } from './views/events.tsx';
import { MissingView } from './views/missing.tsx';
import { NotAnAdministratorView } from './views/not-an-administrator.tsx';
import { SignInView } from './views/sign-in.tsx';
import { StartingView } from './views/starting.tsx';
import { UnreachableView } from './views/unreachable.tsx';

export function App() {
  const place = usePlace();
  const control = useSession();
  const { session } = control;
  const main = useRef<HTMLElement>(null);
  useArrowKeys();
  const shownPath = useRef(place.path);
  const shownKind = useRef(session.kind);

  // A new view starts at its top, and gets the focus for screen readers.
  useEffect(() => {
    if (shownPath.current === place.path) return;
    shownPath.current = place.path;
    if (!place.isRevisited) scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [place]);
  // A page that replaces a view, such as sign-in, gets the focus, too.
  useEffect(() => {
    const before = shownKind.current;
    shownKind.current = session.kind;
    if (before !== session.kind && before !== 'loading') main.current?.focus({ preventScroll: true });
  }, [session.kind]);

  const signOut = async () => {
    await control.signOut();
    navigate('/admin', { replace: true });
  };
  const signOutEverywhere = async () => {
    await control.signOutEverywhere();
    navigate('/admin', { replace: true });
  };
  const isKnown = session.kind === 'administrator' || session.kind === 'not-an-administrator';
  return (
    <>
      <Header
        path={place.path}
        user={isKnown ? session.user : undefined}
        isBare={session.kind === 'signed-out'}
        isAdministrator={session.kind === 'administrator'}
        onSignOut={signOut}
        onSignOutEverywhere={signOutEverywhere}
      />
      <main id="main" ref={main} tabIndex={-1}>
        <Content place={place} control={{ ...control, signOut }} />
      </main>
      <Toaster />
    </>
  );
}

function Content({
  place,
  control: { session, refresh, signOut },
}: {
  place: Place;
  control: SessionControl;
}) {
  const problem = place.query.get('problem');
  const isAdministrator = session.kind === 'administrator';
  // Once signed in, a failed sign-in no longer matters.
  useEffect(() => {
    if (isAdministrator && problem !== null) navigate(currentUrl(), { replace: true });
  }, [isAdministrator, problem]);

  if (session.kind === 'loading') return <StartingView />;
  if (session.kind === 'unreachable') return <UnreachableView error={session.error} onRetry={refresh} />;
  if (session.kind === 'not-an-administrator') {
    return <NotAnAdministratorView user={session.user} provider={session.provider} onSignOut={signOut} />;
  }
  if (session.kind === 'signed-out') {
    const { provider, reason } = session;
    return <SignInView provider={provider} reason={reason} problem={problem} onSignedIn={refresh} />;
  }
  const route = routeOf(place.path);
  if (route.view === 'agents') return <AgentsView place={place} />;
  if (route.view === 'agent') return <AgentView key={route.id} place={place} id={route.id} />;
  if (route.view === 'events') return <EventsView place={place} />;
  if (route.view === 'audit') return <AuditView place={place} />;
  return <MissingView />;
}
