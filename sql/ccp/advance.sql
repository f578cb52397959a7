-- needs: ccp/exit.sql, ccp/hidden.sql, ccp/party.sql
-- Where a ccp Advance goes, told rule by rule: O22, 14.2, A43, F102.3, F104.

create or replace function ccp._advance_goals(position_id bigint, map_id bigint, q integer, r integer, side text)
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
    where marker.position_id = _advance_goals.position_id
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
  cross join lateral (
    select lattice.distance(_advance_goals.q, _advance_goals.r, hex.q, hex.r) as away
  ) as place
  left join marked on marked.q = hex.q and marked.r = hex.r
  left join lateral (
    select min(unit.code) as enemy
    from public.unit
    where unit.position_id = _advance_goals.position_id
      and unit.q = hex.q
      and unit.r = hex.r
      and unit.side <> _advance_goals.side
      and unit.kind <> 'aircraft'
  ) as held on true
  where hex.map_id = _advance_goals.map_id
    and (
      place.away = 1
      -- F102.3; it may have gone inside as the order began (F102.1.1)
      or (
        place.away > 1
        and marked.cave
        and _advance_goals.side = 'japan'
        and exists (
          select
          from marked as own
          where own.q = _advance_goals.q
            and own.r = _advance_goals.r
            and own.cave
        )
      )
    )
$$;

comment on function ccp._advance_goals(bigint, bigint, integer, integer, text) is
'The hexes beside a hex, and for the Japanese in a cave hex every other cave: where an Advance could go (O22, F102.3).';

create or replace function ccp._advance(
  position_id bigint, unit text, path text[], options jsonb, conditions jsonb, policy jsonb
)
returns setof rulings.move_step
language sql stable rows 8
as $$
  with party as materialized (
    select * from ccp._party(_advance.position_id, _advance.unit, _advance.options, _advance.conditions, _advance.policy)
  ),
  hidden as materialized (
    select * from ccp._hidden(_advance.position_id, _advance.options)
  ),
  step as materialized (
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
    from party
    cross join ccp._route(_advance.position_id, _advance.unit, _advance.path) as route
    left join lateral ccp._advance_goals(
      _advance.position_id, party.map_id, party.q, party.r, party.side
    ) as goal on goal.q = route.tq and goal.r = route.tr
    union all
    select
      1 + (select count(*) from ccp._route(_advance.position_id, _advance.unit, _advance.path))::integer,
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
    from party
    cross join lateral ccp._exit(party.map_id, party.q, party.r, party.side) as out
    where (_advance.options ->> 'exit')::boolean
  ),
  judged as materialized (
    select
      step.*,
      party.apart,
      party.label as start,
      step.i > 1
      or (step.q is null and not step.leaves)
      or step.blaze
      or coalesce(step.exit_effect = 'forbids', false)
      or party.apart is not null as fails,
      coalesce(step.exit_effect = 'unknown', false) as open
    from step
    cross join party
  ),
  told as (
    select
      judged.i,
      fact.m,
      fact.rule,
      coalesce(fact.at, judged.label) as at,
      fact.effect,
      fact.note,
      fact.point
    from judged
    cross join party
    left join hidden on hidden.kind = 'wire' and hidden.placed and hidden.q = judged.q and hidden.r = judged.r
    cross join lateral (
      values
      (
        judged.i = 1 and party.in_cave and not judged.tunnel and not judged.fails, 0, 'F102.1.1', party.label,
        'leaves cave', 'it comes out of the cave as the order begins, at no cost and under no fire', null
      ),
      (
        judged.i = 1 and not judged.fails, 1, 'O22.1', null, 'advances',
        'one hex, whatever it costs and whoever is there; no Op Fire', null
      ),
      (
        judged.i = 1 and judged.tunnel and not judged.fails, 2, 'F102.3', null, 'tunnel',
        'from inside its cave straight to another', null
      ),
      (
        judged.i = 1 and not judged.fails and exists (
          select
          from public.marker
          where marker.position_id = _advance.position_id
            and marker.kind = 'mines'
            and marker.q = party.q
            and marker.r = party.r
        ), 3, 'F104.1', party.label, 'roll',
        'mines attack those who leave; hit or not, they are placed in the next hex', null
      ),
      (judged.i > 1, 4, 'O22.1', null, 'forbids', 'an Advance goes one hex and stops', null),
      (
        judged.i = 1 and judged.q is null and not judged.leaves, 4, 'O22.1', null, 'forbids',
        format('not adjacent to %s, and no way from cave to cave', judged.start), null
      ),
      (judged.blaze, 4, 'O22.3', null, 'forbids', 'a blaze is impassable', null),
      (
        judged.apart is not null and judged.i = 1, 4, 'O22.1', party.label, 'forbids',
        format('%s is not in this hex', judged.apart), null
      ),
      (judged.exit_effect is not null, 4, '14.2.1', null, judged.exit_effect, judged.exit_note, null),
      (
        hidden.q is not null and not judged.fails, 5, 'A43.7', null, 'places wire', 'wire is placed here', null
      ),
      (
        judged.enemy is not null and not judged.fails, 6, '19.1', null, 'melee',
        format('units of both sides are now in the hex, %s among them', judged.enemy), null
      )
    ) as fact (holds, m, rule, at, effect, note, point)
    where fact.holds
      and judged.i <= coalesce((select min(judged.i) from judged where judged.fails or judged.open), judged.i)
    union all
    -- one roll for all, but each has its own when a Hidden action finds them by the other reading (ccp-11)
    select
      judged.i,
      5,
      case when hidden.q is not null then 'A43.2' else 'F104.1' end,
      judged.label,
      'roll',
      'mines attack those who enter',
      case when hidden.q is not null and cardinality(party.ids) > 1 then 'ccp-11' end
    from judged
    cross join party
    left join hidden on hidden.kind = 'mines' and hidden.placed and hidden.q = judged.q and hidden.r = judged.r
    cross join lateral generate_series(
      1, case when hidden.q is not null and party.mines = 'b' then cardinality(party.ids) else 1 end
    )
    where judged.i = 1
      and (judged.mines or hidden.q is not null)
      and not judged.fails
    union all
    select
      1000,
      0,
      vain.rule,
      vain.at,
      'not placed',
      vain.note,
      null
    from (
      select
        array_agg(judged.q) as qs,
        array_agg(judged.r) as rs
      from judged
      where not judged.fails
    ) as entered
    cross join lateral ccp._hidden_in_vain(
      _advance.position_id, _advance.options, entered.qs, entered.rs
    ) as vain
    union all
    select
      1000,
      ending.n,
      ending.rule,
      judged.label,
      ending.effect,
      ending.note,
      null
    from judged
    cross join party
    cross join lateral ccp._end_told(
      _advance.position_id, party.side, party.ids, judged.q, judged.r, _advance.policy
    ) as ending
    where judged.q is not null
      and not exists (select from judged where judged.fails or judged.open)
  ),
  finish as (
    select
      min(judged.i) filter (where judged.fails) as fails,
      min(judged.i) filter (where judged.open) as opens,
      count(*) as steps
    from judged
  )
  select
    line.rule,
    null::text,
    line.at,
    line.effect,
    line.note,
    line.point,
    case when line.i = 1001 then 0 end,
    null::integer,
    null::text
  from (
    select
      told.*
    from told
    union all
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
      null
    from finish
    cross join party
    left join judged as halt on halt.i = coalesce(finish.fails, finish.opens, finish.steps)
  ) as line
  order by line.i, line.m, line.rule
$$;

comment on function ccp._advance(bigint, text, text[], jsonb, jsonb, jsonb) is
'An Advance order: every rule that speaks, the verdict last (O22).';
