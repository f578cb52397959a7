-- needs: lattice/cells.sql, positions/command.sql, ddp/overnight.sql
-- Command in ddp (D-Day at Peleliu): 6.2, 6.23, 6.4, 7.1, 7.6, 8.25, 10.21, 10.3, 14.2, 14.3, 14.41, 16.0, 18.32.
--
-- The position is read as it stands when the US Action Phase begins; an HQ that has moved
-- since gives nothing more (7.34). A command post on the map shows that its turn has come,
-- unless `turn` says otherwise.

create or replace function ddp._command_readings(policy jsonb)
returns table (first_posts text, any_hq text)
language sql stable parallel safe rows 1
as $$
  select
    coalesce(policy ->> 'ddp-1', ruleset.presets ->> 'ddp-1'),
    coalesce(policy ->> 'ddp-11', ruleset.presets ->> 'ddp-11')
  from public.ruleset
  where ruleset.code = 'ddp'
$$;

comment on function ddp._command_readings(jsonb) is
'The readings in force for the contested points that command turns on.';

create or replace function ddp._fire_on(position_id bigint, q integer, r integer)
returns table (place text, unit text, label text, disrupted boolean, rule text)
language sql stable rows 2
as $$
  select
    place.code,
    enemy.code,
    hex.label,
    state.disrupted,
    case when dots.printed then '6.2' else '6.23' end
  from public.position
  inner join public.map_feature as place on place.map_id = position.map_id and place.kind = 'position'
  inner join public.map_feature_hex as spot on spot.feature = place.id and spot.role = 'at'
  inner join public.unit as enemy
    on enemy.position_id = position.id
      and enemy.side = 'japan'
      and enemy.q = spot.q
      and enemy.r = spot.r
  inner join public.hex on hex.map_id = position.map_id and hex.q = spot.q and hex.r = spot.r
  cross join lateral (
    select
      coalesce((enemy.attributes ->> 'disrupted')::boolean, false) as disrupted,
      coalesce((enemy.attributes ->> 'tank')::boolean, false) as tank
  ) as state
  cross join lateral (
    select
      bool_or(dot.q = _fire_on.q and dot.r = _fire_on.r) as printed,
      -- 6.23: a tank adds the hexes adjacent to the printed field
      bool_or(lattice.distance(dot.q, dot.r, _fire_on.q, _fire_on.r) = 1) as beside
    from public.map_feature_hex as dot
    where dot.feature = place.id
      and dot.role in ('intense', 'steady')
  ) as dots
  where position.id = _fire_on.position_id
    and (dots.printed or (dots.beside and state.tank))
$$;

comment on function ddp._fire_on(bigint, integer, integer) is
'The Japanese units whose position has a hex in its field of fire, disrupted ones as well (6.2, 6.23).';

create or replace function ddp._command_path(
  position_id bigint, q1 integer, r1 integer, q2 integer, r2 integer, farthest integer
)
returns integer
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return (
    with recursive step as (
      select
        q1 as q,
        r1 as r,
        0 as n
      union
      select
        hex.q,
        hex.r,
        step.n + 1
      from step
      cross join lateral lattice.neighbours(step.q, step.r) as beside
      inner join public.position on position.id = _command_path.position_id
      inner join public.hex on hex.map_id = position.map_id and hex.q = beside.nq and hex.r = beside.nr
      where step.n + 1 + lattice.distance(hex.q, hex.r, q2, r2) <= farthest
        and (step.q <> q2 or step.r <> r2)
        and (
          (hex.q = q2 and hex.r = r2)
          or not exists (
            select
            from public.unit as enemy
            where enemy.position_id = _command_path.position_id
              and enemy.side = 'japan'
              and enemy.q = hex.q
              and enemy.r = hex.r
          )
        )
    )
    select min(step.n)
    from step
    where step.q = q2
      and step.r = r2
  );
end
$$;

comment on function ddp._command_path(bigint, integer, integer, integer, integer, integer) is
'The least number of hexes from one hex to another past Japanese units (14.31); null beyond the farthest.';

create or replace function ddp._commanders(position_id bigint, unit text, conditions jsonb, policy jsonb)
returns table (
  code text,
  kind text,
  label text,
  away integer,
  reach integer,
  -- hexes counted, round Japanese units if need be (14.31); null: out of reach
  path integer,
  disrupted boolean,
  too_early boolean,
  -- whether the turn is the one that ddp-1 disputes
  disputed boolean,
  under_fire boolean,
  overnight boolean
)
language sql stable rows 8
as $$
  select
    head.code,
    head.kind,
    hex.label,
    far.away,
    far.reach,
    case
      when head.kind = 'command_post'
        -- 14.2: no command range is less than one
        then ddp._command_path(position.id, head.q, head.r, asked.q, asked.r, coalesce(far.reach, 1))
      when far.away <= far.reach then far.away
    end,
    coalesce((head.attributes ->> 'disrupted')::boolean, false),
    head.kind = 'command_post'
    and coalesce(now.turn < case reading.first_posts when 'a' then 7 else 8 end, false),
    head.kind = 'command_post' and coalesce(now.turn = 7, false),
    head.kind = 'command_post' and exists (
      select
      from ddp._fire_on(position.id, head.q, head.r) as fire
      where not fire.disrupted
    ),
    now.overnight
  from public.position
  inner join public.unit as asked
    on asked.position_id = position.id
      and asked.code = _commanders.unit
      and asked.side = 'us'
      and asked.q is not null
  inner join public.unit as head
    on head.position_id = position.id
      and head.side = 'us'
      and head.kind in ('regimental_hq', 'infantry_hq', 'command_post')
  inner join public.hex on hex.map_id = head.map_id and hex.q = head.q and hex.r = head.r
  cross join lateral (
    select
      (given.conditions ->> 'turn')::integer as turn,
      ddp._overnight(given.conditions) as overnight
    from (values (coalesce(_commanders.conditions, position.conditions))) as given (conditions)
  ) as now
  cross join lateral (
    select
      lattice.distance(asked.q, asked.r, head.q, head.r) as away,
      case
        when now.overnight or head.kind = 'infantry_hq' then 0
        when head.kind = 'regimental_hq' then 1
        else (head.attributes ->> 'command_range')::integer
      end as reach
  ) as far
  cross join lateral ddp._command_readings(coalesce(_commanders.policy, position.policy)) as reading
  where position.id = _commanders.position_id
$$;

comment on function ddp._commanders(bigint, text, jsonb, jsonb) is
'The HQs and command posts that might command a US unit: how far each is, and what hinders it.';

-- The plan takes longer to make than to run: it is made once a session.
create or replace function ddp.command(
  position_id bigint,
  unit text,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text, by text)
language plpgsql stable rows 8
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      counter.q,
      counter.side,
      counter.kind,
      counter.label,
      counter.side = 'us'
      and coalesce(
        coalesce(command.conditions, position.conditions) ->> 'scenario' = 'bloody_nose_ridge', false
      ) as always,
      -- 7.6, 14.41: whom command gives nothing, and by which rule
      case
        when coalesce((counter.attributes ->> 'disrupted')::boolean, false) then '7.6'
        when counter.kind = 'garrison' then '14.41'
      end as idle_by,
      ddp._overnight(coalesce(command.conditions, position.conditions)) as overnight,
      reading.any_hq
    from public.position
    cross join lateral positions._counter(position.id, command.unit) as counter
    cross join lateral ddp._command_readings(coalesce(command.policy, position.policy)) as reading
    where position.id = command.position_id
  ),
  judged as materialized (
    select
      head.*,
      case
        when head.too_early or head.under_fire then 'does not command'
        when head.kind = 'infantry_hq' then
          case
            when head.away > 0 or head.disrupted then 'does not command'
            when asked.kind is null then 'unknown'
            -- 10.3: an infantry/HQ is itself infantry
            when asked.kind in ('infantry', 'heavy_infantry', 'infantry_hq') then 'commands'
            else 'does not command'
          end
        when head.path is not null then 'commands'
        when head.reach is null then 'unknown'
        else 'does not command'
      end as effect
    from asked
    cross join ddp._commanders(command.position_id, command.unit, command.conditions, command.policy) as head
    where not asked.always
  ),
  told as (
    select
      1 as step,
      head.away,
      case when head.too_early then '14.0' else '7.1' end as rule,
      head.label as at,
      case when head.too_early then 'does not command' else 'passes' end as effect,
      format(
        case
          when head.too_early then '%s: it is not yet the turn of command posts'
          else '%s: the turn of command posts has come'
        end,
        head.code
      ) as note,
      case when head.disputed then 'ddp-1' end as point,
      head.code as by
    from judged as head
    where head.too_early or head.disputed
    union all
    select
      2,
      head.away,
      case when fire.disrupted then '6.4' else '14.32' end,
      fire.label,
      case when fire.disrupted then 'passes' else 'does not command' end,
      format(
        case
          when fire.disrupted then '%s is in the field of fire of %s, but %s there is disrupted'
          else '%s is in the field of fire of %s, where %s is not disrupted'
        end,
        head.code,
        fire.place,
        fire.unit
      ),
      null,
      head.code
    from judged as head
    inner join public.unit as counter
      on counter.position_id = command.position_id and counter.code = head.code
    cross join lateral ddp._fire_on(command.position_id, counter.q, counter.r) as fire
    where head.kind = 'command_post'
    union all
    select
      3,
      head.away,
      case
        when head.kind = 'infantry_hq' then '10.3'
        when head.overnight and head.away > 0 then '16.0'
        when head.kind = 'regimental_hq' then '10.21'
        when head.path is null and head.away <= head.reach then '14.31'
        else '14.3'
      end,
      head.label,
      head.effect,
      case
        when head.effect = 'unknown' and head.kind = 'infantry_hq' then format('the kind of %s', command.unit)
        when head.effect = 'unknown' then format('the command range of %s', head.code)
        else
          format(
            '%s, %s: range %s%s%s',
            head.code,
            case head.kind
              when 'regimental_hq' then 'a regimental HQ'
              when 'infantry_hq' then 'an infantry/HQ'
              else 'a command post'
            end,
            head.away,
            ', command range ' || head.reach,
            case
              when head.away > head.reach then format(', %s too far', head.away - head.reach)
              when head.kind = 'infantry_hq' and head.disrupted then ', but it is disrupted'
              when head.kind = 'infantry_hq' and head.effect <> 'commands'
                then ', but it commands infantry alone'
              when head.path > head.away then format(', %s hexes round Japanese units', head.path)
              when head.path is null and head.away > 0 then ', but Japanese units are in the way'
            end
          )
      end,
      null,
      head.code
    from judged as head
    where not head.too_early
      and not head.under_fire
    union all
    select
      4,
      0,
      gift.rule,
      asked.label,
      gift.effect,
      gift.note,
      gift.point,
      null
    from asked
    cross join lateral (
      select
        bool_or(judged.effect = 'commands') as commanded,
        -- 8.25, 10.21: what an infantry/HQ does not give
        bool_or(judged.effect = 'commands' and judged.kind <> 'infantry_hq') as by_regiment
      from judged
    ) as heads
    cross join lateral (
      select
        heads.commanded and asked.idle_by is null as commanded,
        heads.by_regiment and asked.idle_by is null as by_regiment
    ) as found
    cross join lateral (
      values
      (
        heads.commanded and asked.idle_by is not null,
        asked.idle_by,
        'no action',
        case asked.idle_by
          when '7.6' then 'disrupted: all that it may do is lose the marker'
          else 'a garrison does nothing'
        end,
        null
      ),
      (found.commanded, '7.1', 'gives free action', 'beside the two actions of the turn', null),
      (found.by_regiment, '8.25', 'gives radio', 'when it attacks from an adjacent hex', null),
      (
        found.commanded and not found.by_regiment,
        '10.3',
        case when asked.any_hq = 'b' then 'gives radio' else 'no radio' end,
        'the radio as a weapon, from an infantry/HQ',
        'ddp-11'
      ),
      (
        found.by_regiment and not asked.overnight and asked.kind in ('tank', 'amphibious_tank', 'artillery'),
        '10.21',
        'gives ranged fire',
        'in an attack, and for a barrage',
        null
      ),
      (asked.always, '18.32', 'gives radio', 'on Bloody Nose Ridge every US unit has one', null)
    ) as gift (holds, rule, effect, note, point)
    where gift.holds
    union all
    select
      5,
      0,
      case when asked.always then '18.32' else '10.21' end,
      asked.label,
      verdict.effect,
      case
        when asked.always then 'on Bloody Nose Ridge every US unit is in command'
        when asked.side <> 'us' then 'only US units are commanded'
        when asked.q is null then format('%s is not on the map', command.unit)
        when verdict.effect = 'in command' then 'one HQ or command post is enough'
        when verdict.effect = 'unknown' then 'what a counter does not tell would decide it'
        else 'no HQ or command post commands it'
      end,
      null,
      null
    from asked
    cross join lateral (
      select
        positions._command_verdict(
          asked.always or bool_or(judged.effect = 'commands'), bool_or(judged.effect = 'unknown')
        ) as effect
      from judged
    ) as verdict
  )
  select
    told.rule,
    null::text,
    told.at,
    told.effect,
    told.note,
    told.point,
    told.by
  from told
  order by told.step, told.away, told.by, told.rule, told.at;
end
$$;

comment on function ddp.command(bigint, text, jsonb, jsonb) is
'Whether a US unit is in command, and of whom: a row for every rule that speaks, the verdict last.';
