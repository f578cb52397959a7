-- needs: lattice/cells.sql, positions/command.sql
-- Command in bob (Band of Brothers): 63.1, 63.2, 64.1.
--
-- Only the units of a company can be Out of Command; its Company Hub is the marker
-- `company_hub`, whose value is the scenario's Command Range. A Hub is named by its company.

drop type if exists bob.hub cascade;
create type bob.hub as (
  company text,
  label text,
  away integer,
  displaced boolean,
  reach integer,
  untold text
);

comment on type bob.hub is
'A Company Hub as a unit of the company sees it: how far it is, and how far it commands.';
comment on column bob.hub.untold is 'What stands in the way of telling';

create or replace function bob._heavy(unit positions.counter)
returns boolean
language sql immutable parallel safe
return unit.kind in ('gun', 'vehicle', 'carrier');

comment on function bob._heavy(positions.counter) is
'Whether it is a gun or a vehicle, which belong to no company (64.1).';

create or replace function bob._hubs(unit positions.counter)
returns setof bob.hub
language sql stable rows 1
as $$
  select
    hub.attributes ->> 'company',
    hex.label,
    lattice.distance(unit.q, unit.r, hub.q, hub.r),
    state.displaced,
    hub.value - case when state.displaced then 2 else 0 end,
    case
      when exists (
        select
        from public.unit as enemy
        where enemy.position_id = unit.position_id
          and enemy.side <> unit.side
          and enemy.attributes ->> 'company' = hub.attributes ->> 'company'
      ) then format('whose Hub %s is: both sides have such a company', hub.attributes ->> 'company')
      when exists (
        select
        from public.unit as enemy
        where enemy.position_id = unit.position_id
          and enemy.side <> unit.side
          and enemy.q = hub.q
          and enemy.r = hub.r
      ) then format('where Hub %s goes: an enemy is in its hex', hub.attributes ->> 'company')
    end
  from public.marker as hub
  inner join public.hex on hex.map_id = hub.map_id and hex.q = hub.q and hex.r = hub.r
  cross join lateral (select coalesce((hub.attributes ->> 'displaced')::boolean, false) as displaced) as state
  where hub.position_id = unit.position_id
    and hub.kind = 'company_hub'
    and hub.attributes ->> 'company' = unit.attributes ->> 'company'
    and unit.q is not null
    and not bob._heavy(unit)
$$;

comment on function bob._hubs(positions.counter) is
'The Hubs of a unit''s company.';

create or replace function bob._displaced_steps(hubs bob.hub[])
returns setof rulings.command_step
language sql immutable rows 1
as $$
  select
    '63.2',
    null,
    hub.label,
    '-2',
    format('Hub %s is displaced', hub.company),
    null,
    hub.company
  from unnest(hubs) as hub
  where hub.displaced
  order by hub.away, hub.company, hub.label
$$;

comment on function bob._displaced_steps(bob.hub[]) is
'Hubs that are displaced, and command less far (63.2).';

create or replace function bob._command_range_steps(hubs bob.hub[])
returns setof rulings.command_step
language sql immutable rows 1
as $$
  select
    case when hub.untold is null then '63.1' else '63.2' end,
    null,
    hub.label,
    judged.effect,
    coalesce(
      hub.untold,
      format(
        'Hub %s: range %s, Command Range %s%s',
        hub.company,
        hub.away,
        hub.reach,
        case when hub.away > hub.reach then format(', %s too far', hub.away - hub.reach) end
      )
    ),
    null,
    hub.company
  from unnest(hubs) as hub
  cross join lateral (
    select
      case
        when hub.untold is not null then 'unknown'
        when hub.away <= hub.reach then 'commands'
        else 'does not command'
      end as effect
  ) as judged
  order by hub.away, judged.effect, hub.company, hub.label
$$;

comment on function bob._command_range_steps(bob.hub[]) is
'Whether each Hub is near enough (63.1).';

create or replace function bob._hubless_steps(unit positions.counter)
returns setof rulings.command_step
language sql immutable rows 1
as $$
  select
    case when bob._heavy(unit) then '64.1' else '63.1' end,
    null,
    unit.label,
    case when bob._heavy(unit) or unit.attributes ->> 'company' is null then 'passes' else 'unknown' end,
    case
      when bob._heavy(unit) then 'guns and vehicles belong to no company'
      when unit.attributes ->> 'company' is null then format('%s belongs to no company', unit.code)
      else format('the Hub of company %s', unit.attributes ->> 'company')
    end,
    null,
    null
  where unit.q is not null
$$;

comment on function bob._hubless_steps(positions.counter) is
'Why a unit has no Hub: it is of no company (63.1, 64.1), or the Hub is not told.';

create or replace function bob._command_gifts(unit positions.counter, verdict text, has_hub boolean)
returns setof rulings.command_step
language sql immutable rows 3
as $$
  select
    '63.1',
    null,
    unit.label,
    gift.effect,
    gift.note,
    null,
    null
  from (
    values
    (1, null, '-3', 'Morale, to no less than 1, for the first check when it is selected to move'),
    (2, 'gives command points', 'no command points', 'Command Points of its company'),
    (3, 'gives spotting', 'no spotting', 'for Artillery'),
    (4, 'gives seishin', 'no seishin', 'of a Japanese Squad')
  ) as part (n, kept, lost, note)
  cross join lateral (
    select
      case verdict when 'in command' then case when has_hub then part.kept end when 'out of command' then part.lost end
        as effect,
      part.note
  ) as gift
  where unit.q is not null
    and gift.effect is not null
    and (
      part.n < 4
      or (unit.kind = 'squad' and 'japan' in (unit.side, unit.attributes ->> 'nation'))
    )
  order by gift.effect
$$;

comment on function bob._command_gifts(positions.counter, text, boolean) is
'What a unit keeps in command, or loses out of it (63.1).';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function bob.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.command_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
declare
  asked positions.counter := positions._asked_counter(command.position_id, command.unit);
  hubs bob.hub[] := array(select hub from bob._hubs(asked) as hub);
  has_hub boolean := cardinality(hubs) > 0;
  steps rulings.command_step[];
  verdict rulings.command_step;
begin
  steps := array(
    select step from bob._displaced_steps(hubs) as step
    union all
    select step from bob._command_range_steps(hubs) as step
    union all
    select step from bob._hubless_steps(asked) as step where not has_hub
  );
  verdict := positions._command_verdict(
    asked, steps, '63.1', 'within the Command Range of its Company Hub',
    'beyond the Command Range of its Company Hub', 'what is not told would decide it'
  );
  if asked.q is not null and (bob._heavy(asked) or asked.attributes ->> 'company' is null) then
    verdict.effect := 'in command';
    verdict.note := 'only units of a company can be Out of Command';
  end if;
  return query
  select * from unnest(steps)
  union all
  select * from bob._command_gifts(asked, verdict.effect, has_hub);
  return next verdict;
end
$$;

comment on function bob.command(bigint, text, jsonb, jsonb) is
'Whether a unit is in range of its Company Hub: a row for every rule that speaks, the verdict last.';
