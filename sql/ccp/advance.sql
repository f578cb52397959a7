-- needs: ccp/exit.sql, ccp/hidden.sql, ccp/party.sql
-- Where a ccp Advance goes, told rule by rule: O22, 14.2, 19.1, A43, F102.3, F104.

drop type if exists ccp.advance_leg cascade;
create type ccp.advance_leg as (
  i integer,
  label text,
  q integer,
  r integer,
  tunnel boolean,
  blaze boolean,
  enemy text,
  mines boolean,
  leaves boolean,
  exit_effect text,
  exit_note text,
  fails boolean,
  open boolean
);

comment on type ccp.advance_leg is
'A step of an Advance: where it goes and what it meets there, whether it fails or cannot be told; q is null where no
Advance goes.';

create or replace function ccp._advance_goals(party ccp.party)
returns table (q integer, r integer, label text, tunnel boolean, blaze boolean, enemy text, mines boolean)
language sql stable rows 8
as $$
  with marked as materialized (
    select
      marker.q,
      marker.r,
      bool_or(marker.kind = 'cave') as cave,
      bool_or(marker.kind = 'blaze') as blaze,
      bool_or(marker.kind = 'mines') as mines
    from public.marker
    where marker.position_id = (party.state).position_id
    group by marker.q, marker.r
  )
  select
    hex.q,
    hex.r,
    hex.label,
    place.away > 1,
    coalesce(marked.blaze, false) or hex.terrain = 'blaze',
    held.enemy,
    coalesce(marked.mines, false)
  from public.hex
  cross join lateral (select lattice.distance(party.q, party.r, hex.q, hex.r) as away) as place
  left join marked on marked.q = hex.q and marked.r = hex.r
  left join lateral (
    select min(unit.code) as enemy
    from public.unit
    where unit.position_id = (party.state).position_id
      and unit.q = hex.q
      and unit.r = hex.r
      and unit.side <> party.side
      and unit.kind <> 'aircraft'
  ) as held on true
  where hex.map_id = (party.state).map_id
    and (
      place.away = 1
      -- F102.3; it may have gone inside as the order began (F102.1.1)
      or (
        place.away > 1
        and marked.cave
        and party.side = 'japan'
        and exists (
          select
          from marked as own
          where own.q = party.q
            and own.r = party.r
            and own.cave
        )
      )
    )
$$;

comment on function ccp._advance_goals(ccp.party) is
'The hexes beside a party, and for the Japanese in a cave hex every other cave: where an Advance could go (O22, F102.3).';

create or replace function ccp._advance_legs(party ccp.party, path text[])
returns setof ccp.advance_leg
language sql stable rows 1
as $$
  with step as materialized (
    select
      route.i,
      route.label,
      goal.q,
      goal.r,
      goal.tunnel,
      goal.blaze,
      goal.enemy,
      goal.mines,
      false as leaves,
      null::text as exit_effect,
      null::text as exit_note
    from ccp._route(party, path) as route
    left join lateral ccp._advance_goals(party) as goal on goal.q = route.tq and goal.r = route.tr
    union all
    select
      1 + (select count(*) from ccp._route(party, path))::integer,
      party.label,
      null,
      null,
      false,
      false,
      null,
      false,
      true,
      out.effect,
      out.note
    from ccp._exit(party, party.q, party.r) as out
    where (party.options ->> 'exit')::boolean
  )
  select
    step.*,
    step.i > 1
    or (step.q is null and not step.leaves)
    or step.blaze
    or coalesce(step.exit_effect = 'forbids', false)
    or party.apart is not null,
    coalesce(step.exit_effect = 'unknown', false)
  from step
$$;

comment on function ccp._advance_legs(ccp.party, text[]) is
'The steps of an Advance; there is to be one, to a hex or off the map (O22.1, 14.2).';

create or replace function ccp._advance_leg_steps(party ccp.party, leg ccp.advance_leg)
returns setof ccp.order_step
language sql stable rows 2
as $$
  select
    leg.i,
    fact.m,
    fact.rule,
    coalesce(fact.at, leg.label),
    fact.effect,
    fact.note,
    null,
    null::integer,
    null
  from (
    values
    (
      leg.i = 1 and party.in_cave and not leg.tunnel and not leg.fails, 0, 'F102.1.1', party.label,
      'leaves cave', 'it comes out of the cave as the order begins, at no cost and under no fire'
    ),
    (
      leg.i = 1 and not leg.fails, 1, 'O22.1', null, 'advances',
      'one hex, whatever it costs and whoever is there; no Op Fire'
    ),
    (
      leg.i = 1 and leg.tunnel and not leg.fails, 2, 'F102.3', null, 'tunnel',
      'from inside its cave straight to another'
    ),
    (
      leg.i = 1 and not leg.fails and exists (
        select
        from public.marker
        where marker.position_id = (party.state).position_id
          and marker.kind = 'mines'
          and marker.q = party.q
          and marker.r = party.r
      ), 3, 'F104.1', party.label, 'roll',
      'mines attack those who leave; hit or not, they are placed in the next hex'
    ),
    (leg.i > 1, 4, 'O22.1', null, 'forbids', 'an Advance goes one hex and stops'),
    (
      leg.i = 1 and leg.q is null and not leg.leaves, 4, 'O22.1', null, 'forbids',
      format('not adjacent to %s, and no way from cave to cave', party.label)
    ),
    (leg.blaze, 4, 'O22.3', null, 'forbids', 'a blaze is impassable'),
    (
      party.apart is not null and leg.i = 1, 4, 'O22.1', party.label, 'forbids',
      format('%s is not in this hex', party.apart)
    ),
    (leg.exit_effect is not null, 4, '14.2.1', null, leg.exit_effect, leg.exit_note),
    (
      leg.enemy is not null and not leg.fails, 6, '19.1', null, 'melee',
      format('units of both sides are now in the hex, %s among them', leg.enemy)
    )
  ) as fact (holds, m, rule, at, effect, note)
  where fact.holds
$$;

comment on function ccp._advance_leg_steps(ccp.party, ccp.advance_leg) is
'What a step of an Advance does, and what forbids it (O22, 14.2.1, 19.1, F102, F104.1).';

create or replace function ccp._advance_hidden_steps(party ccp.party, leg ccp.advance_leg)
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    leg.i,
    5,
    'A43.7',
    leg.label,
    'places wire',
    'wire is placed here',
    null,
    null::integer,
    null
  from ccp._hidden(party) as hidden
  where hidden.kind = 'wire' and hidden.placed and hidden.q = leg.q and hidden.r = leg.r
    and not leg.fails
  union all
  -- one roll for all, but each has its own when a Hidden action finds them by the other reading (ccp-11)
  select
    leg.i,
    5,
    case when hidden.q is not null then 'A43.2' else 'F104.1' end,
    leg.label,
    'roll',
    'mines attack those who enter',
    case when hidden.q is not null and cardinality(party.ids) > 1 then 'ccp-11' end,
    null,
    null
  from (values (true)) as entry (entered)
  left join ccp._hidden(party) as hidden
    on hidden.kind = 'mines' and hidden.placed and hidden.q = leg.q and hidden.r = leg.r
  cross join lateral generate_series(
    1, case when hidden.q is not null and party.mines = 'b' then cardinality(party.ids) else 1 end
  )
  where leg.i = 1
    and (leg.mines or hidden.q is not null)
    and not leg.fails
$$;

comment on function ccp._advance_hidden_steps(ccp.party, ccp.advance_leg) is
'Wire that is revealed, and mines that attack, in the hex of an Advance (A43.2, A43.7, F104.1, ccp-11).';

create or replace function ccp._advance_verdict(party ccp.party, legs ccp.advance_leg[])
returns setof ccp.order_step
language sql stable rows 1
as $$
  select
    1001,
    0,
    case when finish.steps = 0 then 'O20.3' else 'O22.1' end,
    coalesce(halt.label, party.label),
    case
      when finish.steps = 0 or finish.fails is not null then 'illegal'
      when finish.opens is not null then 'unknown'
      else 'legal'
    end,
    case
      when finish.steps = 0 then 'an Advance enters one hex'
      when finish.fails is not null then 'it cannot advance there'
      when finish.opens is not null then 'what is not told would decide it'
      when halt.leaves then 'it leaves the map'
      else 'it advances'
    end,
    null,
    0,
    null
  from (
    select
      min(leg.i) filter (where leg.fails) as fails,
      min(leg.i) filter (where leg.open) as opens,
      count(*) as steps
    from unnest(legs) as leg
  ) as finish
  left join unnest(legs) as halt on halt.i = coalesce(finish.fails, finish.opens, finish.steps)
$$;

comment on function ccp._advance_verdict(ccp.party, ccp.advance_leg[]) is
'Whether an Advance may go where it is said to (O20.3, O22.1).';

create or replace function ccp._advance(party ccp.party, path text[])
returns setof rulings.move_step
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  legs ccp.advance_leg[] := array(select leg from ccp._advance_legs(party, path) as leg order by leg.i);
  stop integer := (select min(leg.i) from unnest(legs) as leg where leg.fails or leg.open);
  entered record;
begin
  select
    array_agg(leg.q) as qs,
    array_agg(leg.r) as rs
  into entered
  from unnest(legs) as leg
  where not leg.fails;
  return query
  select
    step.rule,
    null::text,
    step.at,
    step.effect,
    step.note,
    step.point,
    step.halves,
    null::integer,
    null::text
  from (
    select step.*
    from unnest(legs) as leg
    cross join lateral ccp._advance_leg_steps(party, leg) as step
    where leg.i <= coalesce(stop, leg.i)
    union all
    select step.*
    from unnest(legs) as leg
    cross join lateral ccp._advance_hidden_steps(party, leg) as step
    where leg.i <= coalesce(stop, leg.i)
    union all
    select * from ccp._hidden_steps(party, entered.qs, entered.rs)
    union all
    select step.*
    from unnest(legs) as leg
    cross join lateral ccp._ending_steps(party, leg.q, leg.r, leg.label) as step
    where leg.q is not null
      and stop is null
    union all
    select * from ccp._advance_verdict(party, legs)
  ) as step
  order by step.i, step.m, step.rule, step.at, step.note;
end
$$;

comment on function ccp._advance(ccp.party, text[]) is
'An Advance order: every rule that speaks, the verdict last (O22).';
