-- needs: ddp/actions.sql
-- Where Japanese units go in ddp (D-Day at Peleliu): 12.4, 12.8, 13.2, 13.42, 13.47.
--
-- Every function tells each hex that comes into question, and in its verdict the goals by rank: the first rank
-- is where the unit goes, and of several of one rank the player chooses.

create or replace function ddp._goal_verdict(rule text, at text, goals jsonb)
returns rulings.ledger_step
language sql immutable
return row(
  rule, null, at, case when jsonb_array_length(goals) = 0 then 'stays' else 'goes' end,
  case
    when jsonb_array_length(goals) = 0 then 'no hex meets the conditions'
    else format('%s comes first', goals -> 0 ->> 'label')
  end,
  null, null, null, jsonb_build_object('goals', goals)
)::rulings.ledger_step;

comment on function ddp._goal_verdict(text, text, jsonb) is
'The last row about the goals of a unit.';

create or replace function ddp._mover(scene ddp.scene, unit text)
returns ddp.occupant
language plpgsql stable
as $$
begin
  return (
    select holder
    from unnest(scene.holders) as holder
    where holder.code = _mover.unit
    order by holder.fortification
    limit 1
  );
end
$$;

comment on function ddp._mover(ddp.scene, text) is
'The Japanese unit that moves.';

drop type if exists ddp.goal cascade;
create type ddp.goal as (
  label text,
  id text,
  number integer,
  color text,
  away integer,
  near integer,
  held text,
  tank boolean,
  taken boolean,
  rule text,
  why text
);

comment on type ddp.goal is
'A position hex within three hexes of a unit; `why`: what stands against it, null where nothing does.';

create or replace function ddp._goals(scene ddp.scene, mover ddp.occupant, manner text, connected text[])
returns setof ddp.goal
language sql stable rows 6
as $$
  select
    site.label,
    site.id,
    site.number,
    site.color,
    lattice.distance(mover.q, mover.r, site.q, site.r),
    site.near,
    site.held,
    coalesce(holder.tank, false),
    site.taken,
    bar.rule,
    bar.why
  from unnest(scene.sites) as site
  left join unnest(scene.holders) as holder on holder.label = site.label and not holder.fortification
  left join lateral (
    select
      entry.rule,
      entry.why
    from (
      values
      (
        1, site.near >= ddp._to_marines(scene, mover.q, mover.r)
        and not (manner = 'assault' and ((scene.state).readings ->> 'ddp-34') = 'b'),
        case manner when 'redeploy' then '12.4' when 'assault' then '12.8' else '13.2' end,
        'it is no closer to the nearest US unit'
      ),
      (2, manner = 'redeploy' and (site.held is not null or site.taken), '12.4', 'it is occupied'),
      (3, manner = 'assault' and site.held is not null, '12.8', 'a Japanese unit is there'),
      (4, manner = 'advance' and site.taken, '13.2', 'US units are there'),
      (5, manner = 'advance' and holder.tank, '13.2', 'another tank is there'),
      (
        6, manner = 'advance' and site.held is not null and site.label <> all(connected), '13.2',
        'who is there is out of communication and does not make way'
      )
    ) as entry (n, holds, rule, why)
    where entry.holds
    order by entry.n
    limit 1
  ) as bar on true
  where not site.provisional
    and site.label <> mover.label
    and lattice.distance(mover.q, mover.r, site.q, site.r) <= 3
$$;

comment on function ddp._goals(ddp.scene, ddp.occupant, text, text[]) is
'The position hexes within three hexes of a unit that redeploys, assaults or advances, and what stands against each.';

create or replace function ddp.goals(
  position_id bigint,
  unit text,
  manner text,
  linked text[] default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  mover ddp.occupant := ddp._mover(scene, unit);
  rule text := case manner when 'redeploy' then '12.4' when 'assault' then '12.8' else '13.2' end;
  -- asked once, not for every hex
  connected text[] := case when manner = 'advance' then ddp._linked(scene, linked) else '{}' end;
  found ddp.goal[];
begin
  if mover.code is null then
    raise exception 'there is no Japanese unit % on the map', unit using errcode = 'no_data_found';
  end if;
  found := array(select goal from ddp._goals(scene, mover, manner, connected) as goal);
  return query
  select
    coalesce(goal.rule, rule),
    null::text,
    goal.label,
    case when goal.why is null then 'candidate' else 'passed over' end,
    coalesce(
      goal.why,
      format(
        '%s, %s hexes away, %s from the nearest US unit%s', goal.color, goal.away, goal.near,
        case when goal.held is not null then ', held by ' || goal.held else '' end
      )
    ),
    case when manner = 'assault' then 'ddp-34' end,
    unit,
    null::integer,
    null::jsonb
  from unnest(found) as goal
  order by goal.why is not null, goal.label;
  return next ddp._goal_verdict(
    rule,
    mover.label,
    (
      select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.label), '[]')
      from (
        select
          goal.label,
          goal.held,
          goal.taken,
          goal.color,
          dense_rank() over (
            order by
              -- 12.8, 13.2: closest to a US unit; 12.4: another color
              case when manner = 'redeploy' then (goal.color = mover.color)::integer else goal.near end,
              -- 13.2: an empty position before one whose unit makes way
              case when manner = 'advance' then (goal.held is not null)::integer else 0 end,
              goal.away,
              -- 12.4: the lower number, 13.2: the higher
              case manner when 'redeploy' then goal.number when 'advance' then -goal.number else 0 end
          ) as rank
        from unnest(found) as goal
        where goal.why is null
      ) as ranked
    )
  );
end
$$;

comment on function ddp.goals(bigint, text, text, text[], jsonb, jsonb) is
'Where a unit that redeploys (12.4), assaults without targets (12.8) or advances (13.2) goes: the goals by rank, in the verdict.';

create or replace function ddp.assault_hexes(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  mover ddp.occupant := ddp._mover(scene, unit);
begin
  return query
  select
    '12.8',
    null::text,
    marine.label,
    'candidate',
    format(
      '%s hexes away, %s US steps', min(lattice.distance(mover.q, mover.r, marine.q, marine.r)),
      coalesce(sum(marine.steps), 0)
    ),
    null::text,
    unit,
    null::integer,
    null::jsonb
  from ddp._marines(scene) as marine
  where exists (
    select from unnest(scene.dots) as dot
    where dot.place = mover.place and dot.q = marine.q and dot.r = marine.r
  )
  group by marine.label
  order by marine.label;
  return next ddp._goal_verdict(
    '12.8',
    mover.label,
    (
      select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.label), '[]')
      from (
        select
          marine.label,
          true as taken,
          dense_rank() over (
            order by
              min(lattice.distance(mover.q, mover.r, marine.q, marine.r)),
              coalesce(sum(marine.steps), 0)
          ) as rank
        from ddp._marines(scene) as marine
        where exists (
          select from unnest(scene.dots) as dot
          where dot.place = mover.place and dot.q = marine.q and dot.r = marine.r
        )
        group by marine.label
      ) as ranked
    )
  );
end
$$;

comment on function ddp.assault_hexes(bigint, text, jsonb, jsonb) is
'The US hexes in its field that a unit may assault: the nearest, then the fewest steps (12.8).';

create or replace function ddp.stance_order(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns table (unit text, label text, disrupted boolean, rank bigint)
language sql stable rows 4
as $$
  -- 13.42: closest to a landing beach first, then the southernmost
  select
    holder.code,
    holder.label,
    holder.disrupted,
    dense_rank() over (
      order by
        (
          select min(lattice.distance(holder.q, holder.r, beach.q, beach.r))
          from ddp._landing_beaches(state.map_id) as beach
        ),
        -(2 * holder.r + holder.q)
    )
  from positions.state(stance_order.position_id, stance_order.conditions, stance_order.policy) as state
  cross join lateral ddp._occupants(state) as holder
  where holder.stance
  order by 4, holder.code
$$;

comment on function ddp.stance_order(bigint, jsonb, jsonb) is
'The units in counterattack stance in the order in which they act (13.42).';

create or replace function ddp._stance_goals(scene ddp.scene, mover ddp.occupant)
returns table (label text, q integer, r integer, priority integer, shore integer, away integer, note text)
language sql stable rows 6
as $$
  -- 13.42: 1 an empty position that covers a landing beach, 2 US units, 3 an empty position nearer to one
  select
    found.label,
    found.q,
    found.r,
    found.priority,
    found.shore,
    lattice.distance(mover.q, mover.r, found.q, found.r),
    found.note
  from (
    select
      site.label,
      site.q,
      site.r,
      case when site.covers and not site.provisional then 1 else 3 end as priority,
      site.shore,
      case
        when site.covers and not site.provisional then 'an empty position that fires onto a landing beach'
        else 'an empty position nearer to a landing beach'
      end as note
    from unnest(scene.sites) as site
    where site.held is null
      and not site.taken
      and (
        (site.covers and not site.provisional)
        or site.shore < (
          select min(lattice.distance(mover.q, mover.r, beach.q, beach.r))
          from ddp._landing_beaches((scene.state).map_id) as beach
        )
      )
    union all
    select
      marine.label,
      min(marine.q),
      min(marine.r),
      2,
      min(marine.shore),
      'US units'
    from ddp._marines(scene) as marine
    where not exists (
      select from unnest(scene.holders) as holder where holder.label = marine.label
    )
    group by marine.label
  ) as found
  where lattice.distance(mover.q, mover.r, found.q, found.r) <= 3
$$;

comment on function ddp._stance_goals(ddp.scene, ddp.occupant) is
'The hexes within three hexes to which a unit in counterattack stance may go, by priority (13.42).';

create or replace function ddp.stance_goals(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  mover ddp.occupant := ddp._mover(scene, unit);
begin
  if mover.code is null then
    raise exception 'there is no Japanese unit % on the map', unit using errcode = 'no_data_found';
  end if;
  return query
  select
    '13.42', null::text, goal.label, format('priority %s', goal.priority),
    format('%s, %s hexes away', goal.note, goal.away), null::text, unit, null::integer, null::jsonb
  from ddp._stance_goals(scene, mover) as goal
  order by goal.priority, goal.away, goal.label;
  return next ddp._goal_verdict(
    '13.42',
    mover.label,
    (
      select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.label), '[]')
      from (
        select
          goal.label,
          goal.priority = 2 as taken,
          goal.priority = 1 as covers,
          -- for US hexes the beach and the south decide first; then nearest, west, south
          dense_rank() over (
            order by
              goal.priority,
              case when goal.priority = 2 then goal.shore else 0 end,
              case when goal.priority = 2 then -(2 * goal.r + goal.q) else 0 end,
              goal.away,
              goal.q,
              -(2 * goal.r + goal.q)
          ) as rank
        from ddp._stance_goals(scene, mover) as goal
      ) as ranked
    )
  );
end
$$;

comment on function ddp.stance_goals(bigint, text, jsonb, jsonb) is
'Where a unit in counterattack stance goes: the goals by rank, in the verdict (13.42).';

drop type if exists ddp.entrant cascade;
create type ddp.entrant as (
  unit text,
  label text,
  tank boolean,
  depth boolean,
  away integer,
  shore integer,
  covers boolean,
  rule text,
  why text
);

comment on type ddp.entrant is
'A Japanese unit that may enter counterattack stance: how far from a tank and from a landing beach; `why` not.';

create or replace function ddp._entrants(scene ddp.scene)
returns setof ddp.entrant
language sql stable rows 20
as $$
  select
    one.code,
    one.label,
    one.tank,
    one.attributes ? 'depth',
    one.away,
    one.shore,
    one.covers,
    bar.rule,
    bar.why
  from (
    select
      holder.*,
      coalesce(site.covers, false) as covers,
      coalesce(site.guns, false) as guns,
      (
        select min(lattice.distance(holder.q, holder.r, tank.q, tank.r))
        from unnest(scene.holders) as tank
        where tank.tank
      ) as away,
      (
        select min(lattice.distance(holder.q, holder.r, beach.q, beach.r))
        from ddp._landing_beaches((scene.state).map_id) as beach
      ) as shore
    from unnest(scene.holders) as holder
    left join unnest(scene.sites) as site on site.label = holder.label
    where not holder.fortification
      and not holder.stance
  ) as one
  left join lateral (
    select
      entry.rule,
      entry.why
    from (
      values
      (
        1, one.covers and not (one.tank and ((scene.state).readings ->> 'ddp-40') = 'b'), '13.4',
        'its position fires onto a landing beach already'
      ),
      (2, not one.tank and one.guns, '13.41', 'it is in an artillery position'),
      (3, not one.tank and (one.away is null or one.away > 3), '13.41', 'no tank is within three hexes')
    ) as entry (n, holds, rule, why)
    where entry.holds
    order by entry.n
    limit 1
  ) as bar on true
$$;

comment on function ddp._entrants(ddp.scene) is
'The Japanese units on the map, and what keeps each out of counterattack stance (13.4, 13.41).';

create or replace function ddp.stance_entrants(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
begin
  return query
  select
    coalesce(one.rule, '13.41'),
    null::text,
    one.label,
    case when one.why is null then 'eligible' else 'stays out' end,
    format(
      '%s: %s', one.unit,
      coalesce(
        one.why,
        case when one.tank then 'a tank' else format('%s hexes from a tank, %s from a landing beach', one.away, one.shore) end
      )
    ),
    case when one.tank and one.covers then 'ddp-40' end,
    one.unit,
    null::integer,
    null::jsonb
  from ddp._entrants(scene) as one
  order by one.why is not null, not one.tank, one.away, one.unit;
  return next row(
    '13.41', null, null, 'stance', 'tanks first, then at most four others', null, null, null,
    jsonb_build_object(
      'tanks', (
        select coalesce(jsonb_agg(to_jsonb(one) order by one.unit), '[]')
        from ddp._entrants(scene) as one
        where one.tank and one.why is null
      ),
      'others', (
        select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.unit), '[]')
        from (
          select one.*, dense_rank() over (order by one.away, -one.shore) as rank
          from ddp._entrants(scene) as one
          where not one.tank and one.why is null
        ) as ranked
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp.stance_entrants(bigint, jsonb, jsonb) is
'Who enters counterattack stance: tanks, and others by rank of distance to a tank, then farthest from a landing beach (13.41).';
